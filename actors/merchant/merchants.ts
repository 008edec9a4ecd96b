/**
 * The merchants, as the API asks them: every command with its answer. All other messages have no
 * answer.
 *
 * @module
 */

import type { SettlementStatus, WithdrawalStatus } from "../../ledger/money/transitions.ts";
import type { DepositRow, SettlementAddressRow, SettlementRow } from "../../ledger/payment_rows.ts";
import type { MerchantRow } from "../../ledger/rows.ts";
import type {
  ActivateSettlementAddress,
  AddressIssued,
  AddSettlementAddress,
  ApproveSettlement,
  ApproveWithdrawal,
  BookPayout,
  CreateDeposit,
  CreateSettlement,
  DecideDeposit,
  DeclineSettlement,
  DeclineWithdrawal,
  IngestWithdrawal,
  IssueAddress,
  RemoveSettlementAddress,
  Reserve,
  Reserved,
  SettlementCreated,
  SettleWithdrawal,
  UpdateProfile,
} from "./messages.ts";
import type { Refusal } from "./refusal.ts";

/** Outcome of asking an actor. `V` is the answer, `R` the closed list of refusals. */
export type AskOutcome<V, R> =
  /** Decided and durable. */
  | { readonly kind: "done"; readonly value: V }
  /** An expected no. Nothing was changed. */
  | { readonly kind: "refused"; readonly refusal: R }
  /** The mailbox is full: nothing was taken. */
  | { readonly kind: "overloaded" }
  /** It would give back money of a payout that may have been paid already; nothing was changed. */
  | { readonly kind: "held" }
  /** The deadline passed before the message was decided: it was withdrawn, nothing was changed. */
  | { readonly kind: "withdrawn" }
  /** Decided, but whether it is durable was not known in time: the record tells. */
  | { readonly kind: "unknown" }
  /** The message broke an assumption (a bug): it was quarantined, nothing was changed. */
  | { readonly kind: "failed" };

/** Every command, with the answer it gets. */
export interface Answers {
  readonly "reserve": Reserved;
  readonly "book-payout": { readonly status: "CONFIRMED"; readonly changed: boolean };
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
