/**
 * A withdrawal until it is in the treasury's queue: asked for, approved, turned down.
 *
 * @module
 */

import {
  amount,
  CHARGED,
  NOW,
  OWN_MARGIN,
  RESELLER_MARGIN,
  settling,
  withdrawal,
} from "./support/account.ts";
import {
  approveWithdrawal,
  BY_ANN,
  declineWithdrawal,
  GIVE_UP,
  MADE_BY_ANN,
  reserve,
  stampOf,
} from "./support/messages.ts";
import type { Spec } from "./support/statement.ts";

const FEES = { base: "0.4", markup: "0.06" } as const;
const PINNED = { address: "T-dest", network: "TRX" } as const;
const WAITING = { status: "PENDING_APPROVAL", amount: amount("10"), ...CHARGED } as const;

export const WITHDRAWALS: readonly Spec[] = [
  {
    it: "asked of a suspended merchant",
    given: { merchant: { status: "SUSPENDED" } },
    when: reserve(),
    then: "refused merchant_not_active",
  },
  {
    it: "asked of an inactive merchant",
    given: { merchant: { status: "INACTIVE" } },
    when: reserve(),
    then: "refused merchant_not_active",
  },
  {
    it: "of a pair that is closed",
    terms: { withdrawals: false },
    when: reserve(),
    then: "refused withdrawals_closed_for_pair",
  },
  {
    it: "of a pair without settings",
    terms: { pair: false },
    when: reserve(),
    then: "refused withdrawals_closed_for_pair",
  },
  { it: "of nothing", when: reserve({ amount: amount("0") }), then: "refused amount_not_positive" },
  {
    it: "of less than nothing",
    when: reserve({ amount: amount("-1") }),
    then: "refused amount_not_positive",
  },
  {
    it: "with more decimals than the token has",
    when: reserve({ amount: amount("1.0000001") }),
    then: "refused amount_not_exact: decimals 6",
  },
  {
    it: "below the minimum",
    terms: { min: "10.000001" },
    when: reserve(),
    then: "refused below_minimum: minWithdrawal 10.000001",
  },
  {
    it: "to an address that the network does not know",
    when: reserve({ destinationCheck: "invalid" }),
    then: "refused destination_invalid",
  },
  {
    it: "to an address of the service",
    when: reserve({ destinationCheck: "ours" }),
    then: "refused destination_is_ours",
  },
  {
    it: "of a reseller to another address than its registered one",
    when: reserve({ pinnedTo: { address: "T-other", network: "TRX" } }),
    then: "refused destination_not_registered",
  },
  {
    it: "of a reseller to its registered address on another network",
    when: reserve({ pinnedTo: { address: "T-dest", network: "TRX_SHASTA" } }),
    then: "refused destination_not_registered",
  },
  {
    it: "with the reference of a living withdrawal",
    given: { references: { "order-1": "wd_1" } },
    when: reserve({ referenceId: "order-1" }),
    then: "refused reference_taken: withdrawalId wd_1",
  },
  {
    it: "without any balance of the pair",
    given: { available: null },
    when: reserve(),
    then: "refused no_balance_row",
  },
  {
    it: "of more than the balance, fees included",
    given: { available: "12.999999" },
    terms: { fees: FEES, networkFee: "2" },
    when: reserve(),
    then: "refused insufficient_balance: available 12.999999, requested 13",
  },
  {
    it: "of more than the hot wallet has left",
    given: { hot: "9.999999" },
    when: reserve(),
    then: "refused treasury_short",
  },
  {
    it: "of the whole balance, and of all that the hot wallet has left",
    given: { available: "10", hot: "10" },
    when: reserve(),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10",
      "line 11 WITHDRAWAL PENDING -10",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "with commission and network fee, exactly covered",
    given: { available: "13" },
    terms: { fees: FEES, networkFee: "2" },
    when: reserve({ referenceId: "order-1", by: BY_ANN }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> commission (wd_new commission)",
      "2 available -> network_fee (wd_new network_fee)",
      "withdrawal wd_new PENDING 10, base 0.4, markup 0.6, network 2, reference order-1, made by key_ann",
      "line 11 WITHDRAWAL PENDING -13, fee 3, reference order-1",
      "charge 2 chg_1 WITHDRAWAL_COMMISSION 1",
      "charge 3 chg_2 NETWORK_FEE 2",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "with the network fee that was estimated for it",
    terms: { networkFee: "2", networkFeeMode: "dynamic" },
    when: reserve({ dynamicFee: { estimate: amount("3.5"), floor: amount("1") } }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "3.5 available -> network_fee (wd_new network_fee)",
      "withdrawal wd_new PENDING 10, network 3.5",
      "line 11 WITHDRAWAL PENDING -13.5, fee 3.5",
      "charge 2 chg_2 NETWORK_FEE 3.5",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "with the floor of the network fee while nothing is estimated",
    terms: { networkFee: "0", networkFeeMode: "dynamic" },
    when: reserve({ dynamicFee: { estimate: null, floor: amount("1") } }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> network_fee (wd_new network_fee)",
      "withdrawal wd_new PENDING 10, network 1",
      "line 11 WITHDRAWAL PENDING -11, fee 1",
      "charge 2 chg_2 NETWORK_FEE 1",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "of a merchant that earns a share of its own fees",
    given: { merchant: OWN_MARGIN },
    terms: { fees: FEES },
    when: reserve(),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> commission (wd_new commission)",
      "0.5 commission -> available (wd_new commission_margin)",
      "withdrawal wd_new PENDING 10, base 0.4, markup 0.6, margin 0.5 for mer_1",
      "line 11 WITHDRAWAL PENDING -10.5, fee 1",
      "charge 2 chg_1 WITHDRAWAL_COMMISSION 1",
      "margin of mer_1 on commission: 0.5 of 1",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "of a merchant whose reseller earns a share, held until the end",
    given: { merchant: RESELLER_MARGIN },
    terms: { fees: FEES },
    when: reserve(),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "1 available -> commission (wd_new commission)",
      "0.5 commission -> margin_held (wd_new commission_margin)",
      "withdrawal wd_new PENDING 10, base 0.4, markup 0.6, margin 0.5 for mer_reseller",
      "line 11 WITHDRAWAL PENDING -11, fee 1",
      "charge 2 chg_1 WITHDRAWAL_COMMISSION 1",
      "margin of mer_reseller on commission: 0.5 of 1",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "of a reseller waits for an administrator, outside the treasury's queue",
    when: reserve({ pinnedTo: PINNED }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING_APPROVAL 10",
      "line 11 WITHDRAWAL PENDING -10",
      "answer withdrawalId wd_new, status PENDING_APPROVAL",
    ],
  },
  {
    it: "of a reseller that nothing can sign waits all the same",
    when: reserve({ pinnedTo: PINNED, giveUp: GIVE_UP }),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING_APPROVAL 10",
      "line 11 WITHDRAWAL PENDING -10",
      "answer withdrawalId wd_new, status PENDING_APPROVAL",
    ],
  },
  {
    it: "is never dated before the merchant's last decision",
    given: { lastAt: NOW + 5_000 },
    when: reserve(),
    then: [
      "dated 5000 ms later",
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10",
      "line 11 WITHDRAWAL PENDING -10",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },
  {
    it: "is not carried along by a last decision of a wrong clock",
    given: { lastAt: NOW + 5_001 },
    when: reserve(),
    then: [
      "10 available -> reserved (wd_new reserve)",
      "withdrawal wd_new PENDING 10",
      "line 11 WITHDRAWAL PENDING -10",
      "payout out_new queued: 10 to T-dest",
      "answer withdrawalId wd_new, status PENDING",
    ],
  },

  // approval
  {
    it: "approval of one that is not there",
    when: approveWithdrawal(),
    then: "refused record_not_found",
  },
  {
    it: "approval of a settlement's",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL"),
    when: approveWithdrawal(),
    then: "refused record_not_found",
  },
  {
    it: "approval of one that was taken back",
    given: { withdrawals: [withdrawal({ status: "CANCELLED" })] },
    when: approveWithdrawal(),
    then: "refused wrong_state: from CANCELLED, to PENDING",
  },
  {
    it: "approval by who asked for it",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN })] },
    when: approveWithdrawal({ audit: stampOf("ann") }),
    then: "refused same_administrator",
  },
  {
    it: "approval by another key of who asked for it",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN, createdBy: "key_2" })] },
    when: approveWithdrawal({ audit: stampOf("ann") }),
    then: "refused same_administrator",
  },
  {
    it: "approval by who confirmed the deposits that fund it",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN })] },
    when: approveWithdrawal({ audit: stampOf("bob"), isFundedByApprover: true }),
    then: "refused same_administrator",
  },
  {
    it: "approval by who asked for it, where one administrator runs the installation",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN })] },
    when: approveWithdrawal({ audit: stampOf("ann", "off") }),
    then: [
      "withdrawal wd_1 PENDING 10, base 0.4, markup 0.6, network 2, made by key_ann, approved by key_ann",
      "payout out_1 queued: 10 to T-dest",
      'audit test of wd_1 by key_ann: {"status":"PENDING_APPROVAL","reason":null} -> {"status":"PENDING","reason":null}',
      "answer status PENDING, changed true",
    ],
  },
  {
    it: "approval by another key, where keys are told apart and not persons",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN, createdBy: "key_2" })] },
    when: approveWithdrawal({ audit: stampOf("ann", "keys") }),
    then: [
      "withdrawal wd_1 PENDING 10, base 0.4, markup 0.6, network 2, made by key_2, approved by key_ann",
      "payout out_1 queued: 10 to T-dest",
      'audit test of wd_1 by key_ann: {"status":"PENDING_APPROVAL","reason":null} -> {"status":"PENDING","reason":null}',
      "answer status PENDING, changed true",
    ],
  },
  {
    it: "approval by another administrator",
    given: { withdrawals: [withdrawal({ ...WAITING, ...MADE_BY_ANN })] },
    when: approveWithdrawal({ audit: stampOf("bob") }),
    then: [
      "withdrawal wd_1 PENDING 10, base 0.4, markup 0.6, network 2, made by key_ann, approved by key_bob",
      "payout out_1 queued: 10 to T-dest",
      'audit test of wd_1 by key_bob: {"status":"PENDING_APPROVAL","reason":null} -> {"status":"PENDING","reason":null}',
      "answer status PENDING, changed true",
    ],
  },
  ...(["PENDING", "CONFIRMED", "FAILED"] as const).map((status): Spec => ({
    it: `approval of one that is ${status} changes nothing`,
    given: { withdrawals: [withdrawal({ status })] },
    when: approveWithdrawal(),
    then: [`answer status ${status}, changed false`],
  })),

  // turned down
  {
    it: "turning down one that is not there",
    when: declineWithdrawal(),
    then: "refused record_not_found",
  },
  {
    it: "turning down a settlement's",
    given: settling("APPROVAL_REQUIRED", "PENDING_APPROVAL"),
    when: declineWithdrawal(),
    then: "refused record_not_found",
  },
  ...(["PENDING", "CONFIRMED", "FAILED", "CANCELLED"] as const).map((status): Spec => ({
    it: `turning down one that is ${status}`,
    given: { withdrawals: [withdrawal({ status })] },
    when: declineWithdrawal(),
    then: `refused wrong_state: from ${status}, to CANCELLED`,
  })),
  {
    it: "turned down, everything goes back",
    given: { available: "87", reserved: "10", withdrawals: [withdrawal(WAITING)] },
    when: declineWithdrawal({ audit: stampOf("bob") }),
    then: [
      "10 reserved -> available (wd_1 refund)",
      "1 commission -> available (wd_1 commission_refund)",
      "2 network_fee -> available (wd_1 network_fee_refund)",
      "withdrawal wd_1 CANCELLED 10, base 0.4, markup 0.6, network 2, processed yes, reason Rejected: no",
      "line 1 WITHDRAWAL CANCELLED 0, fee 3",
      "charge 2 chg_1 REVERSAL -1",
      "charge 3 chg_2 REVERSAL -2",
      "event evt_1 withdrawal.failed, reason Rejected: no",
      "event evt_2 transaction.failed, balance 100",
      'audit test of wd_1 by key_bob: {"status":"PENDING_APPROVAL","reason":null} -> {"status":"CANCELLED","reason":"Rejected: no"}',
      "answer status CANCELLED",
    ],
  },
];
