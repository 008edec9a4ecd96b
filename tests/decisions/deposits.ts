/**
 * Deposits that the chain brings: seen, final, vanished, and carried to the hot wallet.
 *
 * @module
 */

import {
  address,
  amount,
  claim,
  deposit,
  OWN_MARGIN,
  RESELLER_MARGIN,
  toppedUp,
  topUp,
} from "./support/account.ts";
import { swept, transfer, vanished } from "./support/messages.ts";
import type { Spec } from "./support/statement.ts";

const USED = { addresses: [address()] } as const;
const FRESH = { addresses: [address({ activated: false })] } as const;
const TOP = { addresses: [topUp()] } as const;
const TO_TOP = { to: "T-top", addressId: "adr_top" } as const;
const ONE_PERCENT = { depositCommissionRate: "0.01" } as const;
/** A deposit that was seen: 10 are pending. */
const SEEN = { ...USED, pending: "10", deposits: [deposit()] } as const;

export const DEPOSITS: readonly Spec[] = [
  {
    it: "seen, of a currency whose deposits are closed",
    terms: { deposits: false },
    when: transfer("seen"),
    then: "quarantined: unclaimed: deposits of USDT are disabled",
  },
  {
    it: "final, of a pair without settings",
    terms: { pair: false },
    when: transfer("solid"),
    then: "quarantined: unclaimed: deposits of USDT are disabled",
  },
  {
    it: "seen, while a deposit by hand names its transaction",
    given: { ...USED, deposits: [claim()] },
    when: transfer("seen"),
    then: "quarantined: claimed: by dep_claim, which is not decided",
  },
  {
    it: "final, while a deposit by hand names its transaction",
    given: { ...USED, deposits: [claim()] },
    when: transfer("solid"),
    then: "quarantined: claimed: by dep_claim, which is not decided",
  },
  ...(["seen", "solid"] as const).map((phase): Spec => ({
    it: `${phase}, after a deposit by hand was confirmed for its transaction`,
    given: { ...USED, deposits: [claim({ status: "CONFIRMED" })] },
    when: transfer(phase),
    then: [`consumed ${phase}`],
  })),
  ...(["FAILED", "CANCELLED"] as const).map((status): Spec => ({
    it: `seen, after a deposit by hand for its transaction was ${status}`,
    given: { ...USED, deposits: [claim({ status })] },
    when: transfer("seen"),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, transaction aa",
      "line 11 DEPOSIT PENDING 0, transaction aa, block 7",
      "consumed seen",
    ],
  })),
  {
    it: "seen",
    given: { ...USED, addresses: [address({ referenceId: "order-1" })], merchant: ONE_PERCENT },
    when: transfer("seen"),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, at 0.01, transaction aa, reference order-1",
      "line 11 DEPOSIT PENDING 0, transaction aa, block 7, reference order-1",
      "consumed seen",
    ],
  },
  {
    it: "seen on the address for top-ups pays no percentage",
    given: { ...TOP, merchant: ONE_PERCENT },
    when: transfer("seen", TO_TOP),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, source top_up, transaction aa",
      "line 11 DEPOSIT PENDING 0, transaction aa, block 7, category Top-up",
      "consumed seen",
    ],
  },
  { it: "seen again", given: SEEN, when: transfer("seen"), then: ["consumed seen"] },
  {
    it: "seen after it was credited",
    given: { ...USED, deposits: [deposit({ status: "CONFIRMED" })] },
    when: transfer("seen"),
    then: ["consumed seen"],
  },

  // final
  {
    it: "final, after it was seen",
    given: SEEN,
    when: transfer("solid"),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 110",
      "consumed solid",
    ],
  },
  {
    it: "final, without having been seen, with a commission",
    given: { ...USED, merchant: ONE_PERCENT },
    when: transfer("solid"),
    then: [
      "10 world -> pending (dep_new seen)",
      "9.9 pending -> available (dep_new credit)",
      "0.1 pending -> commission (dep_new commission)",
      "deposit dep_new CONFIRMED 10, number 2, commission 0.1, at 0.01, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 9.9, fee 0.1, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.9",
      "consumed solid",
    ],
  },
  {
    it: "final: the rates of the first sight decide, not those of today",
    given: {
      ...SEEN,
      merchant: { depositCommissionRate: "0.5" },
      deposits: [deposit({ commissionRate: "0.01", usdRate: "1" })],
    },
    when: transfer("solid", { usdRate: "0.05" }),
    then: [
      "9.9 pending -> available (dep_1 credit)",
      "0.1 pending -> commission (dep_1 commission)",
      "deposit dep_1 CONFIRMED 10, commission 0.1, at 0.01, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 9.9, fee 0.1, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.9",
      "consumed solid",
    ],
  },
  {
    it: "final: worth less than a dollar at first sight, neither charged nor sent, only listed",
    given: {
      ...FRESH,
      pending: "10",
      merchant: { depositCommissionRate: "0.5" },
      deposits: [deposit({ commissionRate: "0.5", usdRate: "0.0999" })],
    },
    when: transfer("solid"),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, at 0.5, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed SKIPPED",
      "consumed solid",
    ],
  },
  {
    it: "final: the first on an address activates it, for a fee",
    given: { ...FRESH, merchant: ONE_PERCENT },
    when: transfer("solid"),
    then: [
      "10 world -> pending (dep_new seen)",
      "9.4 pending -> available (dep_new credit)",
      "0.1 pending -> commission (dep_new commission)",
      "0.5 pending -> activation_fee (dep_new activation_fee)",
      "deposit dep_new CONFIRMED 10, number 2, commission 0.1, fixed fee 0.5, at 0.01, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 9.4, fee 0.6, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "charge 3 chg_2 ADDRESS_ACTIVATION 0.5",
      "address adr_1 issued T-customer, of cust, activated yes",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.4",
      "consumed solid",
    ],
  },
  {
    it: "final: fees are at most the deposit, the commission first",
    given: { ...FRESH, merchant: { depositCommissionRate: "0.8" } },
    when: transfer("solid", { amount: amount("1.1") }),
    then: [
      "1.1 world -> pending (dep_new seen)",
      "0.88 pending -> commission (dep_new commission)",
      "0.22 pending -> activation_fee (dep_new activation_fee)",
      "deposit dep_new CONFIRMED 1.1, number 2, commission 0.88, fixed fee 0.22, at 0.8, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 0, fee 1.1, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.88",
      "charge 3 chg_2 ADDRESS_ACTIVATION 0.22",
      "address adr_1 issued T-customer, of cust, activated yes",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 100",
      "consumed solid",
    ],
  },
  {
    it: "final: a commission that is rounded up is at most the deposit",
    given: { ...USED, merchant: { depositCommissionRate: "0.9" } },
    when: transfer("solid", { amount: amount("0.0000006"), usdRate: "2000000" }),
    then: [
      "0.0000006 world -> pending (dep_new seen)",
      "0.0000006 pending -> commission (dep_new commission)",
      "deposit dep_new CONFIRMED 0.0000006, number 2, commission 0.0000006, at 0.9, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 0, fee 0.0000006, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.0000006",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 100",
      "consumed solid",
    ],
  },
  {
    it: "final: a merchant that earns a share of its own fees",
    given: { ...FRESH, merchant: { ...ONE_PERCENT, ...OWN_MARGIN } },
    when: transfer("solid"),
    then: [
      "10 world -> pending (dep_new seen)",
      "9.4 pending -> available (dep_new credit)",
      "0.1 pending -> commission (dep_new commission)",
      "0.5 pending -> activation_fee (dep_new activation_fee)",
      "0.05 commission -> available (dep_new commission_margin)",
      "0.25 activation_fee -> available (dep_new activation_fee_margin)",
      "deposit dep_new CONFIRMED 10, number 2, commission 0.1, fixed fee 0.5, at 0.01, margin 0.3 for mer_1, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 9.7, fee 0.6, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "charge 3 chg_2 ADDRESS_ACTIVATION 0.5",
      "margin of mer_1 on commission: 0.05 of 0.1",
      "margin of mer_1 on activation_fee: 0.25 of 0.5",
      "address adr_1 issued T-customer, of cust, activated yes",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.7",
      "consumed solid",
    ],
  },
  {
    it: "final: a reseller that earns a share",
    given: { ...USED, merchant: { ...ONE_PERCENT, ...RESELLER_MARGIN } },
    when: transfer("solid"),
    then: [
      "10 world -> pending (dep_new seen)",
      "9.9 pending -> available (dep_new credit)",
      "0.1 pending -> commission (dep_new commission)",
      "0.05 commission -> margin_held (dep_new commission_margin)",
      "0.05 margin_held -> margin_due (dep_new margin_due)",
      "deposit dep_new CONFIRMED 10, number 2, commission 0.1, at 0.01, margin 0.05 for mer_reseller, transaction aa, cleared yes",
      "line 11 DEPOSIT CONFIRMED 9.9, fee 0.1, transaction aa, block 7",
      "charge 2 chg_1 DEPOSIT_COMMISSION 0.1",
      "margin of mer_reseller on commission: 0.05 of 0.1",
      "notice to mer_reseller: margin 0.05",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.9",
      "consumed solid",
    ],
  },
  {
    it: "final, with another amount than was seen",
    given: SEEN,
    when: transfer("solid", { amount: amount("4"), from: "T-other" }),
    then: [
      "10 pending -> world (dep_1 seen_wrong)",
      "4 world -> pending (dep_1 corrected)",
      "4 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 4, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 4, transaction aa, block 7",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 104",
      "consumed solid",
    ],
  },
  {
    it: "final after it was given up: the money comes from the chain once more",
    given: { ...USED, deposits: [deposit({ status: "FAILED" })] },
    when: transfer("solid"),
    then: [
      "10 world -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 110",
      "consumed solid",
    ],
  },
  {
    it: "final again",
    given: { ...USED, deposits: [deposit({ status: "CONFIRMED" })] },
    when: transfer("solid"),
    then: ["consumed solid"],
  },
  {
    it: "final, of a merchant that takes no callbacks",
    given: { ...SEEN, merchant: { webhookEnabled: false } },
    when: transfer("solid"),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed SKIPPED",
      "event evt_2 transaction.confirmed SKIPPED, balance 110",
      "consumed solid",
    ],
  },
  {
    it: "final, of a merchant that has asked for one kind of event",
    given: { ...SEEN, merchant: { webhookEvents: ["transaction.confirmed"] } },
    when: transfer("solid"),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, transaction aa, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed SKIPPED",
      "event evt_2 transaction.confirmed, balance 110",
      "consumed solid",
    ],
  },

  // vanished
  {
    it: "vanished",
    given: SEEN,
    when: vanished(),
    then: [
      "10 pending -> world (dep_1 given_up)",
      "deposit dep_1 FAILED 10, transaction aa, reason its block was replaced",
      "line 2 DEPOSIT FAILED 0, transaction aa, block 7",
      "event evt_1 deposit.failed, reason its block was replaced",
      "event evt_2 transaction.failed, balance 100",
      "consumed vanished",
    ],
  },
  {
    it: "vanished, worth less than a dollar: not sent, only listed",
    given: { ...SEEN, deposits: [deposit({ usdRate: "0.0999" })] },
    when: vanished(),
    then: [
      "10 pending -> world (dep_1 given_up)",
      "deposit dep_1 FAILED 10, transaction aa, reason its block was replaced",
      "line 2 DEPOSIT FAILED 0, transaction aa, block 7",
      "event evt_1 deposit.failed SKIPPED, reason its block was replaced",
      "consumed vanished",
    ],
  },
  { it: "vanished, never seen", when: vanished(), then: ["consumed vanished"] },
  ...(["CONFIRMED", "FAILED", "CANCELLED"] as const).map((status): Spec => ({
    it: `vanished, when it is ${status}`,
    given: { ...USED, deposits: [deposit({ status })] },
    when: vanished(),
    then: ["consumed vanished"],
  })),
  {
    it: "vanished, told of a top-up that is final",
    given: { ...TOP, pending: "10", deposits: [toppedUp()] },
    when: vanished(),
    then: ["consumed vanished"],
  },
];

const WAITING = { ...TOP, pending: "10", deposits: [toppedUp()] } as const;

export const TOP_UPS: readonly Spec[] = [
  {
    it: "final, without having been seen: pending until its sweep",
    given: TOP,
    when: transfer("solid", TO_TOP),
    then: [
      "10 world -> pending (dep_new seen)",
      "deposit dep_new PENDING 10, number 2, source top_up, transaction aa, final yes",
      "line 11 DEPOSIT PENDING 0, transaction aa, block 7, category Top-up",
      "consumed solid",
    ],
  },
  {
    it: "final, after it was seen",
    given: { ...WAITING, deposits: [toppedUp({ expiresAt: 1 })] },
    when: transfer("solid", { ...TO_TOP, height: 8 }),
    then: [
      "deposit dep_1 PENDING 10, source top_up, transaction aa, final yes",
      "line 2 DEPOSIT PENDING 0, transaction aa, block 8",
      "consumed solid",
    ],
  },
  {
    it: "final again",
    given: WAITING,
    when: transfer("solid", TO_TOP),
    then: ["consumed solid"],
  },
  {
    it: "final after it was given up: it waits for its sweep as failed",
    given: { ...TOP, deposits: [toppedUp({ status: "FAILED", expiresAt: 1 })] },
    when: transfer("solid", TO_TOP),
    then: [
      "deposit dep_1 FAILED 10, source top_up, transaction aa, final yes",
      "line 2 DEPOSIT FAILED 0, transaction aa, block 7",
      "consumed solid",
    ],
  },
  {
    it: "swept: available, less the flat fee",
    given: { ...WAITING, merchant: { directDepositFee: amount("0.3") } },
    when: swept(),
    then: [
      "9.7 pending -> available (dep_1 credit)",
      "0.3 pending -> direct_deposit_fee (dep_1 direct_deposit_fee)",
      "deposit dep_1 CONFIRMED 10, source top_up, fixed fee 0.3, transaction aa, final yes, cleared yes",
      "line 2 DEPOSIT CONFIRMED 9.7, fee 0.3, transaction aa, block 7",
      "charge 2 chg_1 DIRECT_DEPOSIT 0.3",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 109.7",
      "consumed swept",
    ],
  },
  {
    it: "swept: a flat fee is at most the deposit",
    given: { ...WAITING, merchant: { directDepositFee: amount("30") } },
    when: swept(),
    then: [
      "10 pending -> direct_deposit_fee (dep_1 direct_deposit_fee)",
      "deposit dep_1 CONFIRMED 10, source top_up, fixed fee 10, transaction aa, final yes, cleared yes",
      "line 2 DEPOSIT CONFIRMED 0, fee 10, transaction aa, block 7",
      "charge 2 chg_1 DIRECT_DEPOSIT 10",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 100",
      "consumed swept",
    ],
  },
  {
    it: "swept: worth less than a dollar",
    given: {
      ...WAITING,
      merchant: { directDepositFee: amount("0.3") },
      deposits: [toppedUp({ usdRate: "0.0999" })],
    },
    when: swept(),
    then: [
      "10 pending -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, source top_up, transaction aa, final yes, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed SKIPPED",
      "consumed swept",
    ],
  },
  {
    it: "swept after it was given up: the money comes from the chain",
    given: { ...TOP, deposits: [toppedUp({ status: "FAILED" })] },
    when: swept(),
    then: [
      "10 world -> available (dep_1 credit)",
      "deposit dep_1 CONFIRMED 10, source top_up, transaction aa, final yes, cleared yes",
      "line 2 DEPOSIT CONFIRMED 10, transaction aa, block 7",
      "event evt_1 deposit.confirmed",
      "event evt_2 transaction.confirmed, balance 110",
      "consumed swept",
    ],
  },
  {
    it: "swept again",
    given: { ...TOP, deposits: [toppedUp({ status: "CONFIRMED" })] },
    when: swept(),
    then: ["consumed swept"],
  },
  {
    it: "swept, of a deposit that is not there",
    given: TOP,
    when: swept(),
    then: "bug: Cannot confirm a top-up as none waits for its sweep: aa/0",
  },
  {
    it: "swept before it was final",
    given: { ...WAITING, deposits: [toppedUp({ expiresAt: 1 })] },
    when: swept(),
    then: "bug: Cannot confirm a top-up as none waits for its sweep: aa/0",
  },
  {
    it: "swept, of an address of a customer",
    given: { ...USED, pending: "10", deposits: [deposit({ expiresAt: null })] },
    when: swept({ to: "T-customer" }),
    then: "bug: Cannot confirm a deposit by a sweep as it is no top-up: dep_1",
  },
];
