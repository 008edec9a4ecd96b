/**
 * Deposits that administrators and upstream systems book by hand, and the decision on them.
 *
 * @module
 */

import { address, amount, claim, deposit, manual, topUp } from "./support/account.ts";
import {
  BY_ANN,
  createDeposit,
  decideDeposit,
  MADE_BY_ANN,
  stampOf,
  UPSTREAM,
} from "./support/messages.ts";
import type { Spec } from "./support/statement.ts";

/** 10 are pending, booked by Ann. */
const BOOKED = { pending: "10", deposits: [manual(MADE_BY_ANN)] } as const;
/** More than one administrator may confirm alone. */
const LARGE = { amount: amount("50.000001"), ...MADE_BY_ANN } as const;
const ENDORSED = { endorsedBy: "key_bob", endorsedAdmin: "adm_bob" } as const;

export const MANUAL_DEPOSITS: readonly Spec[] = [
  {
    it: "of a pair that is closed",
    terms: { deposits: false },
    when: createDeposit(),
    then: "refused deposits_closed_for_pair",
  },
  {
    it: "of a pair without settings",
    terms: { pair: false },
    when: createDeposit(),
    then: "refused deposits_closed_for_pair",
  },
  {
    it: "on an address that is not there",
    when: createDeposit({ depositAddressId: "adr_1" }),
    then: "refused record_not_found",
  },
  {
    it: "on an address of another network",
    given: { addresses: [address({ network: "TRX_SHASTA" })] },
    when: createDeposit({ depositAddressId: "adr_1" }),
    then: "refused record_not_found",
  },
  {
    it: "on the address for top-ups",
    given: { addresses: [topUp()] },
    when: createDeposit({ depositAddressId: "adr_top" }),
    then: "refused record_not_found",
  },
  {
    it: "of a transaction whose transfer is booked",
    given: { deposits: [deposit()] },
    when: createDeposit({ txid: "aa" }),
    then: "refused transfer_known: depositId dep_1",
  },
  {
    it: "of a transaction that another deposit by hand names",
    given: { deposits: [claim({ status: "CANCELLED" })] },
    when: createDeposit({ txid: "aa" }),
    then: "refused transfer_known: depositId dep_claim",
  },
  {
    it: "of more than any payment",
    when: createDeposit({ amount: amount("1000000000000.000001") }),
    then: "refused balance_too_large",
  },
  {
    it: "that makes the balances larger than any money there is",
    given: {
      available: "4000000000000000000",
      pending: "3000000000000000000",
      reserved: "3000000000000000000",
    },
    when: createDeposit({ amount: amount("0.000001") }),
    then: "refused balance_too_large",
  },
  {
    it: "that makes the balances as large as they may be",
    given: { available: "9999999999999999999.999999" },
    when: createDeposit({ amount: amount("0.000001") }),
    then: [
      "0.000001 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 0.000001, number 2, source manual",
      "line 11 DEPOSIT PENDING 0, category Manual deposit",
      "answer id dep_new, currency USDT, network TRX, amount 0.000001, source manual, commissionRate 0, usdRate 1, merchantId mer_1, seq 2, transactionSeq 11, status PENDING, createdAt 1767268800000, updatedAt 1767268800000",
    ],
  },
  {
    it: "booked, in a pair without a balance",
    given: { available: null },
    when: createDeposit({ by: BY_ANN }),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, source manual, made by key_ann",
      "line 11 DEPOSIT PENDING 0, category Manual deposit",
      "answer id dep_new, currency USDT, network TRX, amount 10, source manual, commissionRate 0, usdRate 1, createdBy key_ann, createdAdmin adm_ann, merchantId mer_1, seq 2, transactionSeq 11, status PENDING, createdAt 1767268800000, updatedAt 1767268800000",
    ],
  },
  {
    it: "booked for an address, naming its transaction",
    given: {
      addresses: [address({ referenceId: "order-1" })],
      merchant: { status: "SUSPENDED", depositCommissionRate: "0.01" },
    },
    when: createDeposit({ depositAddressId: "adr_1", txid: "aa" }),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, source manual, at 0.01, transaction the whole aa, reference order-1",
      "line 11 DEPOSIT PENDING 0, transaction aa, reference order-1, category Manual deposit",
      "answer id dep_new, currency USDT, network TRX, amount 10, source manual, referenceId order-1, commissionRate 0.01, usdRate 1, addressId adr_1, address T-customer, txid aa, logIndex -1, merchantId mer_1, seq 2, transactionSeq 11, status PENDING, createdAt 1767268800000, updatedAt 1767268800000",
    ],
  },

  // decided
  {
    it: "decided by an event with another body than before",
    given: { ...BOOKED, ingested: { "up:1": "other" } },
    when: decideDeposit({ ingestion: UPSTREAM }),
    then: "refused event_conflict",
  },
  {
    it: "decided by the same event again",
    given: { ...BOOKED, ingested: { "up:1": "hash" } },
    when: decideDeposit({ ingestion: UPSTREAM }),
    then: ["answer changed false"],
  },
  { it: "decided, not there", when: decideDeposit(), then: "refused record_not_found" },
  {
    it: "decided, of the chain's",
    given: { deposits: [deposit()] },
    when: decideDeposit(),
    then: "refused not_manual: from PENDING, to CONFIRMED",
  },
  {
    it: "decided, when it has ended otherwise",
    given: { deposits: [manual({ status: "CANCELLED" })] },
    when: decideDeposit(),
    then: "refused wrong_state: from CANCELLED, to CONFIRMED",
  },
  {
    it: "failed, when it is confirmed",
    given: { deposits: [manual({ status: "CONFIRMED" })] },
    when: decideDeposit({ to: "FAILED" }),
    then: "refused wrong_state: from CONFIRMED, to FAILED",
  },
  {
    it: "confirmed, of a transaction that is another merchant's",
    given: { deposits: [claim({ id: "dep_1" })], ofAnother: ["aa"] },
    when: decideDeposit(),
    then: "refused transfer_of_another: from PENDING, to CONFIRMED",
  },
  {
    it: "cancelled, of a transaction that is another merchant's",
    given: { pending: "10", deposits: [claim({ id: "dep_1" })], ofAnother: ["aa"] },
    when: decideDeposit({ to: "CANCELLED" }),
    then: [
      "10 pending -> world (dep_1 given_up)",
      "deposit dep_1 CANCELLED 10, source manual, transaction the whole aa, reason operator",
      "line 3 DEPOSIT CANCELLED 0, transaction aa",
      "answer deposit CANCELLED, changed true",
    ],
  },
  {
    it: "confirmed by who booked it",
    given: BOOKED,
    when: decideDeposit({ audit: stampOf("ann") }),
    then: "refused same_administrator",
  },
  {
    it: "cancelled by who booked it",
    given: BOOKED,
    when: decideDeposit({ to: "CANCELLED", audit: stampOf("ann") }),
    then: [
      "10 pending -> world (dep_1 given_up)",
      "deposit dep_1 CANCELLED 10, source manual, reason operator, made by key_ann",
      "line 2 DEPOSIT CANCELLED 0",
      'audit test of dep_1 by key_ann: {"status":"PENDING","reason":null} -> {"status":"CANCELLED","reason":"operator"}',
      "answer deposit CANCELLED, changed true",
    ],
  },
  {
    it: "confirmed again by another event",
    given: { deposits: [manual({ status: "CONFIRMED" })] },
    when: decideDeposit({ ingestion: UPSTREAM }),
    then: [
      "taken up up:1 hash",
      "answer deposit CONFIRMED, changed false",
    ],
  },
  {
    it: "confirmed by another administrator",
    given: BOOKED,
    when: decideDeposit({ audit: stampOf("bob"), ingestion: UPSTREAM }),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, source manual, cleared yes, made by key_ann, approved by key_bob",
      "line 2 DEPOSIT CONFIRMED 10",
      "taken up up:1 hash",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 110",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"CONFIRMED","reason":null}',
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "confirmed: the first on its address activates it",
    given: {
      addresses: [address({ activated: false })],
      pending: "10",
      deposits: [manual({ addressId: "adr_1", address: "T-customer", commissionRate: "0.01" })],
    },
    when: decideDeposit(),
    then: [
      "9.4 pending -> available (dep_1 credit)",
      "0.1 pending -> commission (dep_1 commission)",
      "0.5 pending -> activation_fee (dep_1 activation_fee)",
      "deposit dep_1 CONFIRMED 10, source manual, commission 0.1, fixed fee 0.5, at 0.01, cleared yes",
      "line 2 DEPOSIT CONFIRMED 9.4, fee 0.6",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "charge 3 chg_2 ADDRESS_ACTIVATION 0.5",
      "address adr_1 issued T-customer, of cust, activated yes",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.4",
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "confirmed: worth less than a dollar",
    given: {
      pending: "10",
      deposits: [manual({ commissionRate: "0.01", usdRate: "0.0999" })],
    },
    when: decideDeposit(),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, source manual, at 0.01, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10",
      "event evt_1 deposit.confirmed SKIPPED",
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "failed, with a reason",
    given: { ...BOOKED, addresses: [address()] },
    when: decideDeposit({ to: "FAILED", reason: "no such wire" }),
    then: [
      "10 pending -> world (dep_1 given_up)",
      "deposit dep_1 FAILED 10, source manual, reason no such wire, made by key_ann",
      "line 2 DEPOSIT FAILED 0",
      "event evt_1 deposit.failed, reason no such wire",
      "event evt_2 transaction.failed, balance 100",
      "answer deposit FAILED, changed true",
    ],
  },

  // two administrators
  {
    it: "of exactly what one administrator may confirm alone",
    given: { pending: "50", deposits: [manual({ ...LARGE, amount: amount("50") })] },
    when: decideDeposit({ audit: stampOf("bob") }),
    then: [
      "50 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 50, source manual, cleared yes, made by key_ann, approved by key_bob",
      "line 2 DEPOSIT CONFIRMED 50",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 150",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"CONFIRMED","reason":null}',
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "of more: the first word endorses it",
    given: { pending: "60", deposits: [manual(LARGE)] },
    when: decideDeposit({ audit: stampOf("bob") }),
    then: [
      "deposit dep_1 PENDING 50.000001, source manual, endorsed key_bob, made by key_ann",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"PENDING","reason":null}',
      "answer deposit PENDING, changed true",
    ],
  },
  {
    it: "of more together with those of the last day: the first word endorses it",
    given: BOOKED,
    when: decideDeposit({ audit: stampOf("bob"), confirmedBefore: amount("40.000001") }),
    then: [
      "deposit dep_1 PENDING 10, source manual, endorsed key_bob, made by key_ann",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"PENDING","reason":null}',
      "answer deposit PENDING, changed true",
    ],
  },
  {
    it: "that the database will not let one administrator confirm: the first word endorses it",
    given: BOOKED,
    when: decideDeposit({ audit: stampOf("bob"), needsAnother: true }),
    then: [
      "deposit dep_1 PENDING 10, source manual, endorsed key_bob, made by key_ann",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"PENDING","reason":null}',
      "answer deposit PENDING, changed true",
    ],
  },
  {
    it: "of more, endorsed: the same word again",
    given: { pending: "60", deposits: [manual({ ...LARGE, ...ENDORSED })] },
    when: decideDeposit({ audit: stampOf("bob") }),
    then: [
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"PENDING","reason":null}',
      "answer deposit PENDING, changed false",
    ],
  },
  {
    it: "of more, endorsed by another: confirmed",
    given: {
      pending: "60",
      deposits: [manual({ ...LARGE, createdBy: "key_eve", createdAdmin: "adm_eve", ...ENDORSED })],
    },
    when: decideDeposit({ audit: stampOf("ann") }),
    then: [
      "50.000001 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 50.000001, source manual, cleared yes, endorsed key_bob, made by key_eve, approved by key_ann",
      "line 2 DEPOSIT CONFIRMED 50.000001",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 150.000001",
      'audit test of dep_1 by key_ann: {"status":"PENDING","reason":null} -> {"status":"CONFIRMED","reason":null}',
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "endorsed, and its endorser may confirm it alone by now: one word, not two",
    given: { ...BOOKED, deposits: [manual({ ...MADE_BY_ANN, ...ENDORSED })] },
    when: decideDeposit({ audit: stampOf("bob") }),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, source manual, cleared yes, made by key_ann, approved by key_bob",
      "line 2 DEPOSIT CONFIRMED 10",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 110",
      'audit test of dep_1 by key_bob: {"status":"PENDING","reason":null} -> {"status":"CONFIRMED","reason":null}',
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "of more, where one administrator runs the installation",
    given: { pending: "60", deposits: [manual(LARGE)] },
    when: decideDeposit({ audit: stampOf("ann", "off") }),
    then: [
      "50.000001 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 50.000001, source manual, cleared yes, made by key_ann, approved by key_ann",
      "line 2 DEPOSIT CONFIRMED 50.000001",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 150.000001",
      'audit test of dep_1 by key_ann: {"status":"PENDING","reason":null} -> {"status":"CONFIRMED","reason":null}',
      "answer deposit CONFIRMED, changed true",
    ],
  },
  {
    it: "of more, decided by the service itself",
    given: { pending: "60", deposits: [manual(LARGE)] },
    when: decideDeposit(),
    then: [
      "50.000001 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 50.000001, source manual, cleared yes, made by key_ann",
      "line 2 DEPOSIT CONFIRMED 50.000001",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 150.000001",
      "answer deposit CONFIRMED, changed true",
    ],
  },
];
