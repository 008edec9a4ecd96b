/**
 * Settlements, and the addresses they may go to.
 *
 * @module
 */

import { amount, HOUR, listed, NOW, settlement, settling } from "./support/account.ts";
import {
  activateAddress,
  addAddress,
  approveSettlement,
  BY_ANN,
  createSettlement,
  declineSettlement,
  GIVE_UP,
  MADE_BY_ANN,
  removeAddress,
  stampOf,
  submitted,
} from "./support/messages.ts";
import type { Spec } from "./support/statement.ts";

const OPEN = { whitelist: [listed()] } as const;
const KEYED = { idempotencyKey: "key", bodyHash: "hash" } as const;
const FEES = { base: "0.4", markup: "0.06" } as const;

/** So many addresses on the whitelist, none of them the one that messages name. */
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => listed({ id: `sad_of_${n}`, address: `T-${n}` }));

export const SETTLEMENTS: readonly Spec[] = [
  {
    it: "asked of a suspended merchant",
    given: { ...OPEN, merchant: { status: "SUSPENDED" } },
    when: createSettlement(),
    then: "refused merchant_not_active",
  },
  {
    it: "with the key of another request",
    given: { ...OPEN, settlements: [settlement({ ...KEYED, bodyHash: "other" })] },
    when: createSettlement(KEYED),
    then: "refused idempotency_conflict",
  },
  {
    it: "with the key of the same request, until a day has passed: even where the pair has closed",
    given: { settlements: [settlement({ ...KEYED, createdAt: NOW - 24 * HOUR + 1 })] },
    terms: { withdrawals: false },
    when: createSettlement(KEYED),
    then: ["answer settlement PROCESSING, created false"],
  },
  {
    it: "with the key of a request of a day ago is another one",
    given: { ...OPEN, settlements: [settlement({ ...KEYED, createdAt: NOW - 24 * HOUR })] },
    when: createSettlement(KEYED),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10, settlement stl_new",
      "settlement stl_new PENDING > PROCESSING 10, key key",
      "line 11 SETTLEMENT PENDING -10",
      "settlement out_new queued: 10 to T-dest",
      "answer settlement PROCESSING, created true",
    ],
  },
  {
    it: "with the key of a request that could not be initiated is another one",
    given: {
      ...OPEN,
      settlements: [settlement({ ...KEYED, status: "FAILED", reason: GIVE_UP.reason })],
    },
    when: createSettlement(KEYED),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10, settlement stl_new",
      "settlement stl_new PENDING > PROCESSING 10, key key",
      "line 11 SETTLEMENT PENDING -10",
      "settlement out_new queued: 10 to T-dest",
      "answer settlement PROCESSING, created true",
    ],
  },
  {
    it: "with the key of a request that failed later is the same one",
    given: { ...OPEN, settlements: [settlement({ ...KEYED, status: "FAILED", reason: "REVERT" })] },
    when: createSettlement(KEYED),
    then: ["answer settlement FAILED, created false"],
  },
  {
    it: "of a pair that is closed",
    given: OPEN,
    terms: { withdrawals: false },
    when: createSettlement(),
    then: "refused withdrawals_closed_for_pair",
  },
  {
    it: "of a pair without settings",
    given: OPEN,
    terms: { pair: false },
    when: createSettlement(),
    then: "refused withdrawals_closed_for_pair",
  },
  {
    it: "of nothing",
    given: OPEN,
    when: createSettlement({ amount: amount("0") }),
    then: "refused amount_not_positive",
  },
  {
    it: "with more decimals than the token has",
    given: OPEN,
    when: createSettlement({ amount: amount("1.0000001") }),
    then: "refused amount_not_exact: decimals 6",
  },
  {
    it: "below the minimum",
    given: OPEN,
    terms: { min: "10.000001" },
    when: createSettlement(),
    then: "refused below_minimum: minWithdrawal 10.000001",
  },
  {
    it: "to an address that is not on the list",
    when: createSettlement(),
    then: "refused destination_not_whitelisted",
  },
  ...[{ active: false }, { removedAt: 1 }, { network: "TRX_SHASTA" as const }].map((
    fields,
  ): Spec => ({
    it: `to an address that is listed, but ${JSON.stringify(fields)}`,
    given: { whitelist: [listed(fields)] },
    when: createSettlement(),
    then: "refused destination_not_whitelisted",
  })),
  {
    it: "without any balance of the pair",
    given: { ...OPEN, available: null },
    when: createSettlement(),
    then: "refused no_balance_row",
  },
  {
    it: "of more than the balance, fees included",
    given: { ...OPEN, available: "12.999999" },
    terms: { fees: FEES, networkFee: "2" },
    when: createSettlement(),
    then: "refused insufficient_balance: available 12.999999, requested 13",
  },
  {
    it: "of more than the hot wallet has left",
    given: { ...OPEN, hot: "9.999999" },
    when: createSettlement(),
    then: "refused treasury_short",
  },
  {
    it: "below the threshold is handed to the treasury",
    given: OPEN,
    terms: { fees: FEES, networkFee: "2", threshold: "10.000001" },
    when: createSettlement({ ...KEYED, by: BY_ANN, audit: stampOf("ann") }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> commission (wd_new commission)",
      "2 available -> network_fee (wd_new network_fee)",
      "withdrawal wd_new PENDING 10, base 0.4, markup 0.6, network 2, settlement stl_new, made by key_ann",
      "settlement stl_new PENDING > PROCESSING 10, fees 3, key key, made by key_ann",
      "line 11 SETTLEMENT PENDING -13, fee 3",
      "charge 2 chg_1 WITHDRAWAL_COMMISSION 1",
      "charge 3 chg_2 NETWORK_FEE 2",
      "settlement out_new queued: 10 to T-dest",
      'audit test of stl_new by key_ann: null -> {"status":"PROCESSING","steps":["PENDING","PROCESSING"],"amount":"10","currency":"USDT","network":"TRX","address":"T-dest"}',
      "answer settlement PROCESSING, created true",
    ],
  },
  {
    it: "at the threshold waits for an administrator",
    given: OPEN,
    terms: { threshold: "10" },
    when: createSettlement(),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING_APPROVAL 10, settlement stl_new",
      "settlement stl_new PENDING > APPROVAL_REQUIRED 10",
      "line 11 SETTLEMENT PENDING -10",
      "answer settlement APPROVAL_REQUIRED, created true",
    ],
  },
  {
    it: "above what one administrator may do alone waits, whatever the threshold is",
    given: OPEN,
    when: createSettlement({ aloneUpTo: amount("9.999999") }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING_APPROVAL 10, settlement stl_new",
      "settlement stl_new PENDING > APPROVAL_REQUIRED 10",
      "line 11 SETTLEMENT PENDING -10",
      "answer settlement APPROVAL_REQUIRED, created true",
    ],
  },
  {
    it: "of exactly what one administrator may do alone does not wait",
    given: OPEN,
    when: createSettlement({ aloneUpTo: amount("10") }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10, settlement stl_new",
      "settlement stl_new PENDING > PROCESSING 10",
      "line 11 SETTLEMENT PENDING -10",
      "settlement out_new queued: 10 to T-dest",
      "answer settlement PROCESSING, created true",
    ],
  },
  {
    it: "that nothing can sign is made and given up at once",
    given: OPEN,
    terms: { fees: FEES, networkFee: "2" },
    when: createSettlement({ giveUp: GIVE_UP }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> commission (wd_new commission)",
      "2 available -> network_fee (wd_new network_fee)",
      "10 reserved -> available (wd_new refund)",
      "1 commission -> available (wd_new commission_refund)",
      "2 network_fee -> available (wd_new network_fee_refund)",
      "withdrawal wd_new FAILED 10, base 0.4, markup 0.6, network 2, settlement stl_new, processed yes, reason Payout initiation failed",
      "settlement stl_new PENDING > PROCESSING > FAILED 10, fees 3, reason Payout initiation failed",
      "line 11 SETTLEMENT FAILED 0, fee 3",
      "charge 2 chg_1 WITHDRAWAL_COMMISSION 1",
      "charge 3 chg_2 NETWORK_FEE 2",
      "charge 4 chg_3 REVERSAL -1",
      "charge 5 chg_4 REVERSAL -2",
      "settlement out_new void: 10 to T-dest, reason Payout initiation failed",
      "answer settlement FAILED, created true",
    ],
  },
  {
    it: "that nothing can sign waits all the same where it needs an administrator",
    given: OPEN,
    terms: { threshold: "10" },
    when: createSettlement({ giveUp: GIVE_UP }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING_APPROVAL 10, settlement stl_new",
      "settlement stl_new PENDING > APPROVAL_REQUIRED 10",
      "line 11 SETTLEMENT PENDING -10",
      "answer settlement APPROVAL_REQUIRED, created true",
    ],
  },

  // approval
  {
    it: "approval of one that is not there",
    when: approveSettlement(),
    then: "refused record_not_found",
  },
  ...(["PENDING", "CANCELLED", "REJECTED"] as const).map((status): Spec => ({
    it: `approval of one that is ${status}`,
    given: { settlements: [settlement({ status })] },
    when: approveSettlement(),
    then: `refused wrong_state: from ${status}, to APPROVED`,
  })),
  ...(["APPROVED", "PROCESSING", "SUBMITTED_TO_LEDGER", "COMPLETED", "FAILED"] as const).map((
    status,
  ): Spec => ({
    it: `approval of one that is ${status} changes nothing`,
    given: { settlements: [settlement({ status })] },
    when: approveSettlement(),
    then: [`answer status ${status}, changed false`],
  })),
  {
    it: "approval by who asked for it",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL", MADE_BY_ANN),
    when: approveSettlement({ audit: stampOf("ann") }),
    then: "refused same_administrator",
  },
  {
    it: "approval by who confirmed the deposits that fund it",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL"),
    when: approveSettlement({ audit: stampOf("bob"), isFundedByApprover: true }),
    then: "refused same_administrator",
  },
  {
    it: "approval of one whose withdrawal is missing",
    given: { settlements: [settlement({ status: "APPROVAL_REQUIRED" })] },
    when: approveSettlement(),
    then: "bug: Cannot move a settlement as its withdrawal is missing: stl_1",
  },
  {
    it: "approval by another administrator",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL", MADE_BY_ANN),
    when: approveSettlement({ audit: stampOf("bob") }),
    then: [
      "withdrawal wd_1 PENDING 10, settlement stl_1, approved by key_bob",
      "settlement stl_1 PENDING > APPROVAL_REQUIRED > APPROVED > PROCESSING 10, made by key_ann, approved by key_bob",
      "settlement out_1 queued: 10 to T-dest",
      'audit test of stl_1 by key_bob: {"status":"APPROVAL_REQUIRED","reason":null} -> {"status":"PROCESSING","reason":null,"steps":["APPROVED","PROCESSING"]}',
      "answer status PROCESSING, changed true",
    ],
  },

  // turned down or taken back
  {
    it: "turning down one that is not there",
    when: declineSettlement(),
    then: "refused record_not_found",
  },
  {
    it: "turning down one that is on its way",
    given: settling("PROCESSING", "PENDING"),
    when: declineSettlement(),
    then: "refused wrong_state: from PROCESSING, to REJECTED",
  },
  {
    it: "turned down by an administrator",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL"),
    when: declineSettlement({ audit: stampOf("bob") }),
    then: [
      "10 reserved -> available (wd_1 refund)",
      "withdrawal wd_1 CANCELLED 10, settlement stl_1, processed yes, reason no",
      "settlement stl_1 PENDING > APPROVAL_REQUIRED > REJECTED 10, reason no",
      "line 1 SETTLEMENT CANCELLED 0",
      'audit test of stl_1 by key_bob: {"status":"APPROVAL_REQUIRED","reason":null} -> {"status":"REJECTED","reason":"no","steps":["REJECTED"]}',
      "answer status REJECTED, settlement REJECTED",
    ],
  },
  {
    it: "taken back by the merchant",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL"),
    when: declineSettlement({ to: "CANCELLED", reason: "changed my mind" }),
    then: [
      "10 reserved -> available (wd_1 refund)",
      "withdrawal wd_1 CANCELLED 10, settlement stl_1, processed yes, reason changed my mind",
      "settlement stl_1 PENDING > APPROVAL_REQUIRED > CANCELLED 10, reason changed my mind",
      "line 1 SETTLEMENT CANCELLED 0",
      "answer status CANCELLED, settlement CANCELLED",
    ],
  },

  // on its way
  {
    it: "signed",
    given: settling("PROCESSING", "PENDING"),
    when: submitted(),
    then: [
      "settlement stl_1 PENDING > PROCESSING > SUBMITTED_TO_LEDGER 10",
      "consumed submitted",
    ],
  },
  ...(["SUBMITTED_TO_LEDGER", "COMPLETED", "FAILED"] as const).map((status): Spec => ({
    it: `signed, told when it is ${status}`,
    given: settling(status, "PENDING"),
    when: submitted(),
    then: ["consumed submitted"],
  })),
  {
    it: "signed, of a withdrawal that is not there",
    when: submitted(),
    then: ["consumed submitted"],
  },
];

export const SETTLEMENT_ADDRESSES: readonly Spec[] = [
  {
    it: "added by a suspended merchant",
    given: { merchant: { status: "SUSPENDED" } },
    when: addAddress(),
    then: "refused merchant_not_active",
  },
  {
    it: "added twice",
    given: OPEN,
    when: addAddress(),
    then: "refused settlement_address_exists",
  },
  {
    it: "added, and closed until it is activated",
    when: addAddress({ by: BY_ANN }),
    then: [
      "whitelist sad_new T-dest closed, made by key_ann",
      "answer id sad_new, merchantId mer_1, network TRX, address T-dest, label treasury, active false, createdAt 1767268800000, createdBy key_ann, createdAdmin adm_ann",
    ],
  },
  {
    it: "added again after it was removed",
    given: { whitelist: [listed({ removedAt: 1, active: false })] },
    when: addAddress(),
    then: [
      "whitelist sad_new T-dest closed",
      "answer id sad_new, merchantId mer_1, network TRX, address T-dest, label treasury, active false, createdAt 1767268800000",
    ],
  },
  {
    it: "added on another network",
    given: { whitelist: [listed({ network: "TRX_SHASTA" })] },
    when: addAddress(),
    then: [
      "whitelist sad_new T-dest closed",
      "answer id sad_new, merchantId mer_1, network TRX, address T-dest, label treasury, active false, createdAt 1767268800000",
    ],
  },
  {
    it: "added to as many as there may be",
    given: { whitelist: many(200) },
    when: addAddress(),
    then: "refused too_many_settlement_addresses",
  },
  {
    it: "added twice to as many as there may be",
    given: { whitelist: [...many(199), listed()] },
    when: addAddress(),
    then: "refused settlement_address_exists",
  },
  {
    it: "added as the last that there may be, beside others that were removed",
    given: { whitelist: [...many(199), listed({ removedAt: 1, active: false })] },
    when: addAddress(),
    then: [
      "whitelist sad_new T-dest closed",
      "answer id sad_new, merchantId mer_1, network TRX, address T-dest, label treasury, active false, createdAt 1767268800000",
    ],
  },
  { it: "removed, not there", when: removeAddress(), then: "refused record_not_found" },
  {
    it: "removed twice",
    given: { whitelist: [listed({ removedAt: 1 })] },
    when: removeAddress(),
    then: "refused record_not_found",
  },
  {
    it: "removed",
    given: OPEN,
    when: removeAddress(),
    then: [
      "whitelist sad_1 T-dest closed, removed yes",
      "answer ",
    ],
  },
  { it: "activated, not there", when: activateAddress(), then: "refused record_not_found" },
  {
    it: "activated after it was removed",
    given: { whitelist: [listed({ removedAt: 1 })] },
    when: activateAddress(),
    then: "refused record_not_found",
  },
  {
    it: "activated by who added it",
    given: { whitelist: [listed({ active: false, ...MADE_BY_ANN })] },
    when: activateAddress({ audit: stampOf("ann") }),
    then: "refused same_administrator",
  },
  {
    it: "activated by another administrator",
    given: { whitelist: [listed({ active: false, ...MADE_BY_ANN })] },
    when: activateAddress({ audit: stampOf("bob") }),
    then: [
      "whitelist sad_1 T-dest open, made by key_ann, approved by key_bob",
      'audit test of sad_1 by key_bob: {"active":false} -> {"active":true}',
      "answer id sad_1, merchantId mer_1, network TRX, address T-dest, label treasury, active true, createdAt 0, createdBy key_ann, createdAdmin adm_ann, approvedBy key_bob, approvedAdmin adm_bob",
    ],
  },
  {
    it: "activated again, by who added it: nothing is left to approve",
    given: { whitelist: [listed(MADE_BY_ANN)] },
    when: activateAddress({ audit: stampOf("ann") }),
    then: [
      'audit test of sad_1 by key_ann: {"active":true} -> {"active":true}',
      "answer id sad_1, merchantId mer_1, network TRX, address T-dest, label treasury, active true, createdAt 0, createdBy key_ann, createdAdmin adm_ann",
    ],
  },
  {
    it: "closed by who added it",
    given: { whitelist: [listed(MADE_BY_ANN)] },
    when: activateAddress({ active: false, audit: stampOf("ann") }),
    then: [
      "whitelist sad_1 T-dest closed, made by key_ann",
      'audit test of sad_1 by key_ann: {"active":true} -> {"active":false}',
      "answer id sad_1, merchantId mer_1, network TRX, address T-dest, label treasury, active false, createdAt 0, createdBy key_ann, createdAdmin adm_ann",
    ],
  },
];
