/**
 * Messages of a merchant with everything stamped in: 10 USDT on TRX unless a specification says
 * otherwise.
 *
 * @module
 */

import type {
  MarginEvent,
  OutcomeEvent,
  SubmittedEvent,
  SweptEvent,
  TransferEvent,
  VanishedEvent,
} from "../../../actors/merchant/chain_events.ts";
import {
  type ActivateSettlementAddress,
  type AddSettlementAddress,
  type ApproveSettlement,
  type ApproveWithdrawal,
  type AuditStamp,
  type BookPayout,
  type CreateDeposit,
  type CreateSettlement,
  type DecideDeposit,
  type DeclineSettlement,
  type DeclineWithdrawal,
  type IngestWithdrawal,
  type IssueAddress,
  NOT_INITIATED,
  type ProfilePatch,
  type RemoveSettlementAddress,
  type Reserve,
  type SettleWithdrawal,
  type UpdateProfile,
} from "../../../actors/merchant/messages.ts";
import type { FourEyes } from "../../../ledger/money/duties.ts";
import { ZERO } from "../../../ledger/money/amount.ts";
import type { InboxKey } from "../../../ledger/rows.ts";
import { amount, DESTINATION, MERCHANT, NOW, TXID } from "./account.ts";

const at = NOW;
const chargeIds = ["chg_1", "chg_2"] as const;
const eventIds = ["evt_1", "evt_2"] as const;
const money = { currency: "USDT", network: "TRX", amount: amount("10") } as const;
const payout = {
  at,
  withdrawalId: "wd_new",
  transactionId: "txn_new",
  outgoingId: "out_new",
  chargeIds,
  ...money,
  destination: DESTINATION,
  fromAddress: null,
  dynamicFee: { estimate: null, floor: ZERO },
} as const;

/** An upstream event, as its message carries it. */
export const UPSTREAM = { eventId: "up:1", bodyHash: "hash" } as const;

/** The end of a payout that nothing can sign, as its message carries it. */
export const GIVE_UP = {
  reason: NOT_INITIATED,
  chargeIds: ["chg_3", "chg_4"],
  eventIds,
} as const;

/** The maker of a record, as a command that makes one carries it. */
export const BY_ANN = { key: "key_ann", administrator: "adm_ann" } as const;
/** The same, as the record keeps it. */
export const MADE_BY_ANN = { createdBy: "key_ann", createdAdmin: "adm_ann" } as const;

/** The stamp of a command of an administrator; one alone may confirm up to 50. */
export function stampOf(name: "ann" | "bob", fourEyes: FourEyes = "persons"): AuditStamp {
  return {
    auditId: "aud_1",
    actor: `key_${name}`,
    administrator: `adm_${name}`,
    action: "test",
    requestId: "req_1",
    duties: { fourEyes, aloneUpTo: amount("50") },
  };
}

export function reserve(fields: Partial<Reserve> = {}): Reserve {
  const own = { referenceId: null, description: null, pinnedTo: null, giveUp: null } as const;
  return { type: "reserve", ...payout, ...own, destinationCheck: "ok", ...fields };
}

export function bookPayout(fields: Partial<BookPayout> = {}): BookPayout {
  return {
    type: "book-payout",
    ...payout,
    referenceId: null,
    description: null,
    paidBy: { txid: TXID, height: 7 },
    eventIds,
    ingestion: { eventId: "failover/aa", bodyHash: "hash" },
    ...fields,
  };
}

export function approveWithdrawal(fields: Partial<ApproveWithdrawal> = {}): ApproveWithdrawal {
  return { type: "approve-withdrawal", at, withdrawalId: "wd_1", ...fields };
}

export function declineWithdrawal(fields: Partial<DeclineWithdrawal> = {}): DeclineWithdrawal {
  const reason = "Rejected: no";
  return {
    type: "decline-withdrawal",
    at,
    withdrawalId: "wd_1",
    reason,
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function createSettlement(fields: Partial<CreateSettlement> = {}): CreateSettlement {
  return {
    type: "create-settlement",
    ...payout,
    settlementId: "stl_new",
    idempotencyKey: null,
    bodyHash: null,
    giveUp: null,
    ...fields,
  };
}

export function approveSettlement(fields: Partial<ApproveSettlement> = {}): ApproveSettlement {
  return {
    type: "approve-settlement",
    at,
    settlementId: "stl_1",
    withdrawalId: "wd_1",
    ...fields,
  };
}

export function declineSettlement(fields: Partial<DeclineSettlement> = {}): DeclineSettlement {
  return {
    type: "decline-settlement",
    at,
    settlementId: "stl_1",
    withdrawalId: "wd_1",
    to: "REJECTED",
    reason: "no",
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function addAddress(fields: Partial<AddSettlementAddress> = {}): AddSettlementAddress {
  return {
    type: "add-settlement-address",
    at,
    addressId: "sad_new",
    network: "TRX",
    address: DESTINATION,
    label: "treasury",
    ...fields,
  };
}

export function removeAddress(): RemoveSettlementAddress {
  return { type: "remove-settlement-address", at, addressId: "sad_1" };
}

export function activateAddress(
  fields: Partial<ActivateSettlementAddress> = {},
): ActivateSettlementAddress {
  return { type: "activate-settlement-address", at, addressId: "sad_1", active: true, ...fields };
}

export function createDeposit(fields: Partial<CreateDeposit> = {}): CreateDeposit {
  return {
    type: "create-deposit",
    at,
    depositId: "dep_new",
    transactionId: "txn_new",
    ...money,
    source: "manual",
    description: null,
    metadata: {},
    depositAddressId: null,
    txid: null,
    usdRate: "1",
    ...fields,
  };
}

export function decideDeposit(fields: Partial<DecideDeposit> = {}): DecideDeposit {
  return {
    type: "decide-deposit",
    at,
    depositId: "dep_1",
    to: "CONFIRMED",
    reason: null,
    chargeIds,
    eventIds,
    ingestion: null,
    ...fields,
  };
}

export function ingestWithdrawal(fields: Partial<IngestWithdrawal> = {}): IngestWithdrawal {
  return {
    type: "ingest-withdrawal",
    at,
    withdrawalId: "wd_1",
    settlementId: null,
    network: "TRX",
    paidBy: null,
    reason: null,
    chargeIds,
    eventIds,
    ingestion: UPSTREAM,
    ...fields,
  };
}

export function settleWithdrawal(fields: Partial<SettleWithdrawal> = {}): SettleWithdrawal {
  return {
    type: "settle-withdrawal",
    at,
    withdrawalId: "wd_1",
    settlementId: null,
    network: "TRX",
    verdict: "paid",
    reason: "seen on the explorer",
    arrived: amount("10"),
    txid: TXID,
    height: 7,
    paidBy: null,
    quarantined: null,
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function issueAddress(fields: Partial<IssueAddress> = {}): IssueAddress {
  return {
    type: "issue-address",
    at,
    kind: "issued",
    network: "TRX",
    identifier: "cust",
    referenceId: null,
    createOnly: false,
    fresh: { addressId: "adr_new", address: "T-new", index: 9 },
    ...fields,
  };
}

export function updateProfile(
  patch: ProfilePatch,
  fields: Partial<UpdateProfile> = {},
): UpdateProfile {
  return { type: "update-profile", at, patch, ...fields };
}

function keyOf<P extends InboxKey["phase"]>(phase: P, logIndex = 0) {
  return { merchantId: MERCHANT, network: "TRX", txid: TXID, logIndex, phase } as const;
}

export function transfer(
  phase: "seen" | "solid",
  fields: Partial<TransferEvent> = {},
): TransferEvent {
  return {
    type: "transfer",
    phase,
    key: keyOf(phase),
    at,
    currency: "USDT",
    amount: amount("10"),
    from: "T-payer",
    to: "T-customer",
    addressId: "adr_1",
    height: 7,
    diesAfter: NOW + 60_000,
    expiresAt: NOW + 60_000,
    usdRate: "1",
    depositId: "dep_new",
    transactionId: "txn_new",
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function vanished(): VanishedEvent {
  const reason = "its block was replaced";
  return { type: "vanished", key: keyOf("vanished"), at, to: "T-customer", reason, eventIds };
}

export function outcome(
  result: OutcomeEvent["result"],
  fields: Partial<OutcomeEvent> = {},
): OutcomeEvent {
  return {
    type: "outcome",
    key: keyOf("outcome", -1),
    at,
    outgoingId: "out_1",
    withdrawalId: "wd_1",
    settlementId: null,
    result,
    reason: result === "paid" ? null : "REVERT",
    height: result === "abandoned" ? null : 7,
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function submitted(): SubmittedEvent {
  const key = keyOf("submitted", -1);
  return { type: "submitted", key, at, withdrawalId: "wd_1", settlementId: "stl_1" };
}

export function swept(fields: Partial<SweptEvent> = {}): SweptEvent {
  return {
    type: "swept",
    key: keyOf("swept"),
    at,
    to: "T-top",
    outgoingId: "out_sweep",
    sweepTxid: "bb",
    chargeIds,
    eventIds,
    ...fields,
  };
}

export function margin(): MarginEvent {
  const key = { ...keyOf("margin"), txid: "wd_of_another" };
  return {
    type: "margin",
    key,
    at,
    currency: "USDT",
    amount: amount("0.5"),
    transactionId: "txn_new",
    eventId: "evt_1",
  };
}
