/**
 * Commands to a merchant actor. Clock, ids and outside checks are stamped into the message
 * when it is made and kept through every retry; settings are read by the journal with the batch.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type { DynamicFee, Rate, WithdrawalFees } from "../../ledger/money/fees.ts";
import type { Actor, Duties } from "../../ledger/money/duties.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import type {
  DepositRow,
  InboxKey,
  MerchantRow,
  MerchantStatus,
  SettlementAddressRow,
  SettlementRow,
} from "../../ledger/rows.ts";
import type { SettlementStatus, WithdrawalStatus } from "../../ledger/money/transitions.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import type { Refusal } from "./refusal.ts";

/** Author of a command, for the audit: kept in the commit of the command's effect. */
export interface AuditStamp {
  readonly auditId: string;
  /** The key that was used. */
  readonly actor: string;
  /** For example `withdrawal.approve`. */
  readonly action: string;
  readonly requestId: string;
  /** The administrator who stands behind the key; absent: none. */
  readonly administrator?: string | null;
  /** The rules by which approvals are judged; absent: none. */
  readonly duties?: Duties;
}

/** A command that makes a record. */
interface Made {
  /** Who asked for it; absent: the service itself. */
  readonly by?: Actor;
}

/** Ids of the events of a payment's end: its own, then that of its statement line. */
export type EventIds = readonly [string, string];

/** A command that an administrator may be behind. */
interface Audited {
  readonly audit?: AuditStamp;
}

/** Reserve funds for a payout and hand it to the treasury. */
export interface Reserve extends Made {
  readonly type: "reserve";
  readonly at: number;
  readonly withdrawalId: string;
  readonly transactionId: string;
  readonly outgoingId: string;
  readonly chargeIds: readonly [string, string];
  readonly currency: Currency;
  readonly network: Network;
  /** May be zero or negative: that has a refusal of its own. */
  readonly amount: Amount;
  readonly destination: string;
  /** Finding of the network's address rules and of the service's own addresses on the destination. */
  readonly destinationCheck: "ok" | "invalid" | "ours";
  /** Address the payout will leave from, for the statement. */
  readonly fromAddress: string | null;
  /** A reseller's registered destination; its withdrawals wait for approval. Null for others. */
  readonly pinnedTo: { readonly address: string; readonly network: Network } | null;
  readonly referenceId: string | null;
  readonly description: string | null;
  /** The network fee of a dynamic pair as of this request; it is locked with it. */
  readonly dynamicFee: DynamicFee;
  readonly giveUp: GiveUp | null;
}

/** Why a payout that cannot be signed is given up at once, as merchants read it. */
export const NOT_INITIATED = "Payout initiation failed";

/**
 * The refund of a payout in the commit that makes it, where nothing of its network can be signed; null
 * where it is handed to the treasury. One that waits for an administrator waits in both cases.
 */
export interface GiveUp {
  readonly reason: typeof NOT_INITIATED;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** A new withdrawal; `FAILED` where it was given up at once. */
export interface Reserved {
  readonly withdrawalId: string;
  readonly status: "PENDING" | "PENDING_APPROVAL" | "FAILED";
  readonly fees: WithdrawalFees;
}

/**
 * Book a transfer that has left the hot wallet already as a withdrawal that the database has lost. It is
 * a fact: neither today's settings nor what the wallet holds can refuse it.
 */
export interface BookPayout
  extends Audited, Omit<Reserve, "type" | "destinationCheck" | "pinnedTo" | "giveUp"> {
  readonly type: "book-payout";
  /** The transaction, from a solid block that was read. */
  readonly paidBy: { readonly txid: string; readonly height: number };
  readonly eventIds: EventIds;
  readonly ingestion: Ingestion;
}

/** Give a withdrawal's money back, if no transaction of it can exist. */
export interface Release {
  readonly type: "release";
  readonly at: number;
  readonly withdrawalId: string;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
  /** Which states of the payout may be given up: `dead` only with the scan's proof behind it. */
  readonly from: "queued" | "dead";
}

/** Let a waiting withdrawal go. */
export interface ApproveWithdrawal extends Audited {
  readonly type: "approve-withdrawal";
  readonly at: number;
  readonly withdrawalId: string;
  /** True where its funds may come from deposits that the approver has confirmed by hand. */
  readonly isFundedByApprover?: boolean;
}

/** Turn a waiting withdrawal down, or take it back. */
export interface DeclineWithdrawal extends Audited {
  readonly type: "decline-withdrawal";
  readonly at: number;
  readonly withdrawalId: string;
  /** As the merchant reads it, for example `Rejected: ...`. */
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** Pay out to a whitelisted address of the merchant's own. */
export interface CreateSettlement extends Audited, Made {
  readonly type: "create-settlement";
  readonly at: number;
  readonly settlementId: string;
  readonly withdrawalId: string;
  readonly transactionId: string;
  readonly outgoingId: string;
  readonly chargeIds: readonly [string, string];
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly destination: string;
  readonly fromAddress: string | null;
  readonly dynamicFee: DynamicFee;
  /** Header of the request, null without; the same key gets the same answer for 24 h. */
  readonly idempotencyKey: string | null;
  readonly bodyHash: string | null;
  /** Above this it waits for an administrator whatever the threshold is; absent: the threshold alone. */
  readonly aloneUpTo?: Amount;
  readonly giveUp: GiveUp | null;
}

/** A settlement, and whether this request made it. */
export interface SettlementCreated {
  readonly settlement: SettlementRow;
  /** False where an earlier request with the same key made it. */
  readonly created: boolean;
}

/** Let a waiting settlement go. */
export interface ApproveSettlement extends Audited {
  readonly type: "approve-settlement";
  readonly at: number;
  readonly settlementId: string;
  readonly withdrawalId: string;
  /** True where its funds may come from deposits that the approver has confirmed by hand. */
  readonly isFundedByApprover?: boolean;
}

/** Turn a waiting settlement down (`REJECTED`) or take it back (`CANCELLED`). */
export interface DeclineSettlement extends Audited {
  readonly type: "decline-settlement";
  readonly at: number;
  readonly settlementId: string;
  readonly withdrawalId: string;
  readonly to: "REJECTED" | "CANCELLED";
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** Put an address on the whitelist. */
export interface AddSettlementAddress extends Made {
  readonly type: "add-settlement-address";
  readonly at: number;
  readonly addressId: string;
  readonly network: Network;
  readonly address: string;
  readonly label: string;
}

/** Take an address off the whitelist. */
export interface RemoveSettlementAddress {
  readonly type: "remove-settlement-address";
  readonly at: number;
  readonly addressId: string;
}

/** Open or close a whitelisted address. */
export interface ActivateSettlementAddress extends Audited {
  readonly type: "activate-settlement-address";
  readonly at: number;
  readonly addressId: string;
  readonly active: boolean;
}

/** Book a deposit by hand; pending until an operator or upstream confirms it. */
export interface CreateDeposit extends Made {
  readonly type: "create-deposit";
  readonly at: number;
  readonly depositId: string;
  readonly transactionId: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly source: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Link to an existing deposit address. */
  readonly depositAddressId: string | null;
  /** Transaction that the metadata names: claimed, so that the scan does not credit it again. */
  readonly txid: string | null;
  readonly usdRate: string;
}

/** An upstream message that a command carries out, kept in the commit of its effect. */
export interface Ingestion {
  readonly eventId: string;
  readonly bodyHash: string;
}

/** Confirm, fail or cancel a deposit that was booked by hand. */
export interface DecideDeposit extends Audited {
  readonly type: "decide-deposit";
  readonly at: number;
  readonly depositId: string;
  readonly to: "CONFIRMED" | "FAILED" | "CANCELLED";
  readonly reason: string | null;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
  readonly ingestion: Ingestion | null;
  /** What the same administrator has confirmed by hand in the last 24 hours; absent: nothing. */
  readonly confirmedBefore?: Amount;
  /** The database has said that one administrator alone may not: endorse it at most. Absent: false. */
  readonly needsAnother?: boolean;
}

/** Carry out what an upstream system says of a withdrawal. */
export interface IngestWithdrawal extends Audited {
  readonly type: "ingest-withdrawal";
  readonly at: number;
  readonly withdrawalId: string;
  /** The settlement that it carries out, null for an ordinary one. */
  readonly settlementId: string | null;
  /** The network of the withdrawal. */
  readonly network: Network;
  /**
   * The transaction that was found in a solid block with the withdrawal's very token, destination
   * and amount; `own`: it is the payout's transaction, and was not declared dead. Null: the withdrawal
   * is said to have failed.
   */
  readonly paidBy: {
    readonly txid: string;
    readonly height: number;
    readonly own: boolean;
  } | null;
  readonly reason: string | null;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
  readonly ingestion: Ingestion;
}

/** An operator's finding on a payout that succeeded without the intended transfer. */
export type PayoutVerdict = "paid" | "not_paid";

/**
 * Settle a withdrawal whose transaction succeeded without the intended transfer, as an operator says
 * and the chain has confirmed.
 */
export interface SettleWithdrawal extends Audited {
  readonly type: "settle-withdrawal";
  readonly at: number;
  readonly withdrawalId: string;
  /** The settlement that it carries out, null for an ordinary one. */
  readonly settlementId: string | null;
  readonly network: Network;
  readonly verdict: PayoutVerdict;
  /** For the audit. */
  readonly reason: string;
  /** What reached the destination, by all transactions that were looked at. */
  readonly arrived: Amount;
  /** The payout's own transaction, and its block. */
  readonly txid: string;
  readonly height: number;
  /** Another transaction that has brought what the payout's lacked; it pays only this withdrawal. */
  readonly paidBy: { readonly txid: string; readonly height: number } | null;
  /** The row of the inbox that was quarantined for it; null: none waits. */
  readonly quarantined: InboxKey | null;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/**
 * Hand out a deposit address. `issued`: an end customer's, the same one every time; `session`: a
 * fresh one behind a hosted page; `top_up`: the merchant's own, one per network.
 */
export interface IssueAddress {
  readonly type: "issue-address";
  readonly at: number;
  readonly kind: "issued" | "session" | "top_up";
  readonly network: Network;
  readonly identifier: string | null;
  readonly referenceId: string | null;
  /** Refuse when the identifier already has an address (`If-None-Match: *`). */
  readonly createOnly: boolean;
  /** A fresh address, already watched; left unused when the identifier has one. */
  readonly fresh: { readonly addressId: string; readonly address: string; readonly index: number };
}

/** The address the customer should pay to. */
export interface AddressIssued {
  readonly addressId: string;
  readonly address: string;
  /** Its derivation index. */
  readonly walletIndex: number;
  readonly created: boolean;
}

/** Fields of the profile that this message changes; absent ones stay. */
export interface ProfilePatch {
  readonly name?: string;
  readonly status?: MerchantStatus;
  readonly depositCommissionRate?: Rate;
  readonly directDepositFee?: Amount;
  readonly rateLimits?: Readonly<Record<string, number | null>>;
  readonly resellerId?: string | null;
  readonly marginRate?: Rate;
  readonly marginBeneficiary?: string | null;
  readonly webhookSecret?: string;
  readonly webhookPreviousUntil?: number | null;
  readonly webhookUrl?: string | null;
  readonly webhookEnabled?: boolean;
  readonly webhookEvents?: readonly string[] | null;
  readonly webhookTimeout?: number;
  readonly webhookRetryCount?: number;
  readonly successUrl?: string | null;
  readonly failureUrl?: string | null;
  readonly pageOrigins?: readonly string[] | null;
  readonly logoColor?: string | null;
}

/** Change a merchant's settings; who may change which is the caller's affair. */
export interface UpdateProfile extends Audited {
  readonly type: "update-profile";
  readonly at: number;
  readonly patch: ProfilePatch;
}

/** Every command, with the answer it gets. */
export interface Answers {
  readonly "reserve": Reserved;
  readonly "book-payout": { readonly status: "CONFIRMED"; readonly changed: boolean };
  readonly "release": { readonly status: "FAILED" };
  readonly "approve-withdrawal": { readonly status: WithdrawalStatus; readonly changed: boolean };
  readonly "decline-withdrawal": { readonly status: "CANCELLED" };
  readonly "create-settlement": SettlementCreated;
  readonly "approve-settlement": { readonly status: SettlementStatus; readonly changed: boolean };
  readonly "decline-settlement": {
    readonly status: "REJECTED" | "CANCELLED";
    readonly settlement: SettlementRow;
  };
  readonly "add-settlement-address": SettlementAddressRow;
  readonly "remove-settlement-address": Record<string, never>;
  readonly "activate-settlement-address": SettlementAddressRow;
  readonly "create-deposit": DepositRow;
  readonly "decide-deposit": { readonly deposit: DepositRow | null; readonly changed: boolean };
  readonly "ingest-withdrawal": { readonly status: WithdrawalStatus; readonly changed: boolean };
  readonly "settle-withdrawal": { readonly status: WithdrawalStatus; readonly changed: boolean };
  readonly "issue-address": AddressIssued;
  readonly "update-profile": MerchantRow;
}

/** Any command to a merchant actor. */
export type MerchantCommand =
  | Reserve
  | BookPayout
  | Release
  | ApproveWithdrawal
  | DeclineWithdrawal
  | CreateSettlement
  | ApproveSettlement
  | DeclineSettlement
  | AddSettlementAddress
  | RemoveSettlementAddress
  | ActivateSettlementAddress
  | CreateDeposit
  | DecideDeposit
  | IngestWithdrawal
  | SettleWithdrawal
  | IssueAddress
  | UpdateProfile;

/** The merchants, as the API sees them. */
export interface Merchants {
  /**
   * Asks one merchant.
   *
   * @param timeoutMs how long the caller waits; a command not decided by then is withdrawn
   */
  ask<C extends MerchantCommand>(
    merchantId: string,
    command: C,
    timeoutMs: number,
  ): Promise<AskOutcome<Answers[C["type"]], Refusal>>;
  /** Has a merchant's inbox read: it has rows. */
  wake(merchantId: string): void;
}
