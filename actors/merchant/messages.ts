/**
 * Commands to a merchant actor. Clock, ids and outside checks are stamped into the message
 * when it is made and kept through every retry; settings are read by the journal with the batch.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type { DynamicFee, WithdrawalFees } from "../../ledger/money/fees.ts";
import type { Actor, Duties } from "../../ledger/money/duties.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import type { SettlementRow } from "../../ledger/payment_rows.ts";
import type { RegisteredDestination } from "../../ledger/resellers.ts";
import type { InboxKey, MerchantRow } from "../../ledger/rows.ts";
import type { FreshAddress } from "../addresses/address_book.ts";

/** Author of an administrator's command, kept with its effect. */
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
  /** The key that asked for it; absent: the service itself. */
  readonly by?: Actor;
}

/** Ids of the events of a payment's end: its own, then that of its statement line. */
export type EventIds = readonly [string, string];

/** Any command: its name, and the clock of its making, Unix milliseconds. */
interface Command<T extends string> {
  readonly type: T;
  readonly at: number;
}

/** A command that an administrator may be behind. */
interface Audited {
  readonly audit?: AuditStamp;
}

/** A command that ends a payment, with the ids of what its end writes. */
export interface EndIds {
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** The common part of a withdrawal and a settlement. */
export interface PayoutRequest extends Made {
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
  /** Address the payout will leave from, for the statement. */
  readonly fromAddress: string | null;
  /** The network fee of a dynamic pair as of this request; it is locked with it. */
  readonly dynamicFee: DynamicFee;
}

/** A withdrawal's own words, as its merchant reads them again. */
interface Described {
  readonly referenceId: string | null;
  readonly description: string | null;
}

/** Reserve funds for a payout and hand it to the treasury. */
export interface Reserve extends Command<"reserve">, PayoutRequest, Described {
  /** Finding of the network's address rules and of the service's own addresses on the destination. */
  readonly destinationCheck: "ok" | "invalid" | "ours";
  /** A reseller's registered destination; its withdrawals wait for approval. Null for others. */
  readonly pinnedTo: RegisteredDestination | null;
  readonly giveUp: GiveUp | null;
}

/** The reason that merchants read of a payout that cannot be signed and is given up at once. */
export const NOT_INITIATED = "Payout initiation failed";

/**
 * The refund of a payout in the commit that makes it, where nothing of its network can be signed; null
 * where it is handed to the treasury. One that waits for an administrator waits in both cases.
 */
export interface GiveUp extends EndIds {
  readonly reason: typeof NOT_INITIATED;
}

/** A new withdrawal; `FAILED` where it was given up at once. */
export interface Reserved {
  readonly withdrawalId: string;
  readonly status: "PENDING" | "PENDING_APPROVAL" | "FAILED";
  readonly fees: WithdrawalFees;
}

/** A transaction, from a solid block that was read. */
export interface SolidTransaction {
  readonly txid: string;
  readonly height: number;
}

/**
 * Book a transfer that has left the hot wallet already as a withdrawal that the database has lost:
 * neither today's settings nor what the wallet holds can refuse it.
 */
export interface BookPayout extends Command<"book-payout">, Audited, PayoutRequest, Described {
  readonly paidBy: SolidTransaction;
  readonly eventIds: EventIds;
  readonly ingestion: Ingestion;
}

/** Let a waiting withdrawal go. */
export interface ApproveWithdrawal extends Command<"approve-withdrawal">, Audited {
  readonly withdrawalId: string;
  /** True where its funds may come from deposits that the approver has confirmed by hand. */
  readonly isFundedByApprover?: boolean;
}

/** Turn a waiting withdrawal down, or take it back. */
export interface DeclineWithdrawal extends Command<"decline-withdrawal">, Audited, EndIds {
  readonly withdrawalId: string;
  /** As the merchant reads it, for example `Rejected: ...`. */
  readonly reason: string;
}

/** Pay out to a whitelisted address of the merchant's own. */
export interface CreateSettlement extends Command<"create-settlement">, Audited, PayoutRequest {
  readonly settlementId: string;
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
export interface ApproveSettlement extends Command<"approve-settlement">, Audited {
  readonly settlementId: string;
  readonly withdrawalId: string;
  /** True where its funds may come from deposits that the approver has confirmed by hand. */
  readonly isFundedByApprover?: boolean;
}

/** Turn a waiting settlement down (`REJECTED`) or take it back (`CANCELLED`). */
export interface DeclineSettlement extends Command<"decline-settlement">, Audited, EndIds {
  readonly settlementId: string;
  readonly withdrawalId: string;
  readonly to: "REJECTED" | "CANCELLED";
  readonly reason: string;
}

/** Put an address on the whitelist. */
export interface AddSettlementAddress extends Command<"add-settlement-address">, Made {
  readonly addressId: string;
  readonly network: Network;
  readonly address: string;
  readonly label: string;
}

/** Take an address off the whitelist. */
export interface RemoveSettlementAddress extends Command<"remove-settlement-address"> {
  readonly addressId: string;
}

/** Open or close a whitelisted address. */
export interface ActivateSettlementAddress extends Command<"activate-settlement-address">, Audited {
  readonly addressId: string;
  readonly active: boolean;
}

/** Book a deposit by hand; pending until an operator or upstream confirms it. */
export interface CreateDeposit extends Command<"create-deposit">, Made {
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
export interface DecideDeposit extends Command<"decide-deposit">, Audited, EndIds {
  readonly depositId: string;
  readonly to: "CONFIRMED" | "FAILED" | "CANCELLED";
  readonly reason: string | null;
  readonly ingestion: Ingestion | null;
  /** Sum that the same administrator has confirmed by hand in the last 24 hours; absent: nothing. */
  readonly confirmedBefore?: Amount;
  /** The database has said that one administrator alone may not: endorse it at most. Absent: false. */
  readonly needsAnother?: boolean;
}

/** A report about a withdrawal from outside of its payout. */
interface Report extends Audited, EndIds {
  readonly withdrawalId: string;
  /** The settlement that it carries out, null for an ordinary one. */
  readonly settlementId: string | null;
  /** The network of the withdrawal. */
  readonly network: Network;
}

/** Carry out what an upstream system says of a withdrawal. */
export interface IngestWithdrawal extends Command<"ingest-withdrawal">, Report {
  /**
   * The transaction that was found in a solid block with the withdrawal's very token, destination
   * and amount; `own`: it is the payout's transaction, and was not declared dead. Null: the withdrawal
   * is said to have failed.
   */
  readonly paidBy: SolidTransaction & { readonly own: boolean } | null;
  readonly reason: string | null;
  readonly ingestion: Ingestion;
}

/** An operator's finding on a payout that succeeded without the intended transfer. */
export type PayoutVerdict = "paid" | "not_paid";

/**
 * Settle a withdrawal whose transaction succeeded without the intended transfer, as an operator says
 * and the chain has confirmed.
 */
export interface SettleWithdrawal extends Command<"settle-withdrawal">, Report, SolidTransaction {
  readonly verdict: PayoutVerdict;
  /** For the audit. */
  readonly reason: string;
  /** Amount that reached the destination, by all transactions that were examined. */
  readonly arrived: Amount;
  /** Another transaction that has brought what the payout's lacked; it pays only this withdrawal. */
  readonly paidBy: SolidTransaction | null;
  /** The row of the inbox that was quarantined for it; null: none waits. */
  readonly quarantined: InboxKey | null;
}

/**
 * Hand out a deposit address. `issued`: an end customer's, the same one every time; `session`: a
 * fresh one behind a hosted page; `top_up`: the merchant's own, one per network.
 */
export interface IssueAddress extends Command<"issue-address"> {
  readonly kind: "issued" | "session" | "top_up";
  readonly network: Network;
  readonly identifier: string | null;
  readonly referenceId: string | null;
  /** Refuse when the identifier already has an address (`If-None-Match: *`). */
  readonly createOnly: boolean;
  /** A fresh address, already watched; left unused when the identifier has one. */
  readonly fresh: FreshAddress;
}

/** The address the customer should pay to. */
export interface AddressIssued {
  readonly addressId: string;
  readonly address: string;
  /** Its derivation index. */
  readonly walletIndex: number;
  readonly created: boolean;
}

type ProfileFields = Omit<
  MerchantRow,
  "merchantId" | "slot" | "createdAt" | "webhookSecretPrevious" | "webhookTimeoutMs"
>;

/** Fields of the profile that this message changes; absent ones stay. */
export interface ProfilePatch extends Partial<ProfileFields> {
  readonly webhookTimeout?: number;
}

/** Change a merchant's settings; who may change which is the caller's affair. */
export interface UpdateProfile extends Command<"update-profile">, Audited {
  readonly patch: ProfilePatch;
}
