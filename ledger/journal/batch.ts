/**
 * What one batch of decisions changes, as the journal hands it to the database.
 *
 * @module
 */

import type {
  AuditRow,
  BalanceKey,
  ChargeRow,
  DepositAddressRow,
  DepositRow,
  EntryRow,
  EventRow,
  InboxInsert,
  InboxKey,
  IngestedRow,
  MarginRow,
  MerchantRow,
  OutgoingRow,
  OutgoingVoid,
  SettlementAddressRow,
  SettlementRow,
  SliceRow,
  TransactionRow,
  WithdrawalRow,
} from "../rows.ts";

/** One merchant's part of a batch: every row once, in its final image. */
export interface SliceChanges {
  readonly slice: SliceRow;
  readonly opened: readonly BalanceKey[];
  readonly entries: readonly EntryRow[];
  readonly newWithdrawals: readonly WithdrawalRow[];
  readonly withdrawals: readonly WithdrawalRow[];
  readonly newDeposits: readonly DepositRow[];
  readonly deposits: readonly DepositRow[];
  readonly newTransactions: readonly TransactionRow[];
  readonly transactions: readonly TransactionRow[];
  readonly charges: readonly ChargeRow[];
  readonly newOutgoing: readonly OutgoingRow[];
  readonly voided: readonly OutgoingVoid[];
  readonly events: readonly EventRow[];
  readonly newAddresses: readonly DepositAddressRow[];
  readonly addresses: readonly DepositAddressRow[];
  readonly consumed: readonly InboxKey[];
  readonly merchant: MerchantRow | null;
  readonly newSettlements: readonly SettlementRow[];
  readonly settlements: readonly SettlementRow[];
  readonly newWhitelist: readonly SettlementAddressRow[];
  readonly whitelist: readonly SettlementAddressRow[];
  readonly margins: readonly MarginRow[];
  /** Rows for the inboxes of other merchants. */
  readonly inbox: readonly InboxInsert[];
  readonly ingested: readonly IngestedRow[];
  readonly audits: readonly AuditRow[];
}

/** Why a merchant's slice was not written; nothing of it was. */
export type SliceMiss =
  /** Another node wrote this merchant since its state was read, or its history is another one. */
  | { readonly merchantId: string; readonly reason: "version" }
  /** Its account, or a payout that it gives up, is locked by another transaction. */
  | { readonly merchantId: string; readonly reason: "locked" }
  /** Pairs or fee settings changed since the batch was decided. */
  | { readonly merchantId: string; readonly reason: "epoch" }
  /** The payout was signed, or its state moved, before its refund. */
  | { readonly merchantId: string; readonly reason: "outgoing" }
  /** It gives a queued payout up while signing is stopped (`hub.signing_stop`): it may be paid already. */
  | { readonly merchantId: string; readonly reason: "stopped" }
  /** A living withdrawal holds the reference. */
  | {
    readonly merchantId: string;
    readonly reason: "reference";
    readonly referenceId: string;
    readonly withdrawalId: string;
  };
