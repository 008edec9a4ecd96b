/**
 * The rows of the `book` schema, field by field in the order of their migration; times are Unix
 * milliseconds. With payment_rows.ts the one place that lists columns and kinds of rows: types, the
 * parameters of the journal's write and what a decision changes follow from it.
 *
 * @module
 */

import type { Currency, Network, OutgoingAsset } from "./money/pair.ts";
import type { TransferKind } from "./money/transfer_kinds.ts";
import type { OutgoingStatus } from "./money/transitions.ts";
import {
  chargeTable,
  depositTable,
  marginTable,
  settlementAddressTable,
  settlementTable,
  transactionTable,
  withdrawalTable,
} from "./payment_rows.ts";
import {
  amount,
  bigint,
  boolean,
  composite,
  integer,
  json,
  orNull,
  rate,
  type RowOf,
  table,
  text,
  texts,
  time,
} from "./table.ts";

/** A merchant that is not active creates no payments. */
export type MerchantStatus = "ACTIVE" | "SUSPENDED" | "INACTIVE";

export const merchantTable = table("book.merchant", {
  merchantId: text(),
  slot: integer(),
  status: text<MerchantStatus>(),
  name: text(),
  depositCommissionRate: rate(),
  directDepositFee: amount(),
  webhookUrl: orNull(text()),
  webhookSecret: text(),
  webhookSecretPrevious: orNull(text()),
  webhookPreviousUntil: orNull(time()),
  webhookEnabled: boolean(),
  webhookEvents: orNull(texts()),
  webhookTimeoutMs: integer(),
  webhookRetryCount: integer(),
  successUrl: orNull(text()),
  failureUrl: orNull(text()),
  /** Origins that may show the hosted page in a frame; null: none. */
  pageOrigins: orNull(texts()),
  /** Colour of the merchant's mark on the hosted page, `#rrggbb`. */
  logoColor: orNull(text()),
  rateLimits: json<Readonly<Record<string, number | null>>>(),
  resellerId: orNull(text()),
  /** Share of this merchant's fees that goes to `marginBeneficiary`. */
  marginRate: rate(),
  /** The merchant account that earns it: the merchant's own, or its reseller's. */
  marginBeneficiary: orNull(text()),
  createdAt: time(),
});
/** Profile and settings of a merchant. */
export type MerchantRow = RowOf<typeof merchantTable>;

export const depositAddressTable = table("book.deposit_address", {
  id: text(),
  merchantId: text(),
  network: text<Network>(),
  address: text(),
  walletIndex: integer(),
  kind: text<"issued" | "session" | "top_up">(),
  identifier: orNull(text()),
  referenceId: orNull(text()),
  activated: boolean(),
  createdAt: time(),
});
/** A deposit address of an end customer, a hosted session or a top-up. */
export type DepositAddressRow = RowOf<typeof depositAddressTable>;

export const outgoingTable = table("book.outgoing", {
  id: text(),
  merchantId: text(),
  kind: text<TransferKind>(),
  paymentId: orNull(text()),
  network: text<Network>(),
  currency: text<OutgoingAsset>(),
  amount: amount(),
  wallet: text(),
  destination: text(),
  status: text<OutgoingStatus>(),
  reason: orNull(text()),
  attempts: integer(),
  leaseUntil: orNull(time()),
  createdAt: time(),
  updatedAt: time(),
});
/** One intended transfer out of a wallet of the service. */
export type OutgoingRow = RowOf<typeof outgoingTable>;

export const eventTable = table("book.outbox", {
  id: text(),
  merchantId: text(),
  paymentId: text(),
  type: text(),
  payload: text(),
  status: text<"PENDING" | "DELIVERED" | "FAILED" | "SKIPPED">(),
  attempts: integer(),
  nextAttemptAt: time(),
  claimedUntil: orNull(time()),
  /** Session of the node that holds the claim. */
  claimedBy: orNull(text()),
  lastOutcome: orNull(text()),
  createdAt: time(),
  deliveredAt: orNull(time()),
});
/** One event for a merchant; `payload` is the exact text that is signed and sent. */
export type EventRow = RowOf<typeof eventTable>;

/** Columns that name one inbox row. */
export const INBOX_KEY = {
  merchantId: text(),
  network: text<Network>(),
  txid: text(),
  logIndex: integer(),
  phase: text<"seen" | "solid" | "vanished" | "submitted" | "outcome" | "margin" | "swept">(),
};
export const inboxKeyTable = composite("book.inbox_key", INBOX_KEY);
/** Name of one inbox row. */
export type InboxKey = RowOf<typeof inboxKeyTable>;

export const outgoingVoidTable = composite("book.outgoing_void", {
  id: text(),
  merchantId: text(),
  fromStatus: text<"queued" | "dead">(),
  reason: text(),
});
/** An outgoing row that is given up together with the refund of its payment. */
export type OutgoingVoid = RowOf<typeof outgoingVoidTable>;

export const balanceKeyTable = composite("book.balance_key", {
  merchantId: text(),
  currency: text<Currency>(),
  network: text<Network>(),
});
/** A pair in which a merchant gets its first balance row. */
export type BalanceKey = RowOf<typeof balanceKeyTable>;

export const accountChangeTable = composite("book.account_change", {
  merchantId: text(),
  version: bigint(),
  lastCommit: text(),
  depositSeq: bigint(),
  withdrawalSeq: bigint(),
  transactionSeq: bigint(),
  chargeSeq: bigint(),
  settlementSeq: bigint(),
  lastAt: time(),
});
/** A merchant's account in a batch: the version and commit it was decided on, the counters after it. */
export type AccountChange = RowOf<typeof accountChangeTable>;

export const inboxTable = table("book.inbox", {
  ...INBOX_KEY,
  data: json<Readonly<Record<string, unknown>> & { readonly payer: string }>(),
  createdAt: time(),
  consumedAt: time<null>(),
  quarantine: text<null>(),
});
/** A row for the inbox of another merchant; `data.payer` names the writer. */
export type InboxInsert = RowOf<typeof inboxTable>;

export const ingestedTable = table("book.ingested", {
  eventId: text(),
  merchantId: text(),
  bodyHash: text(),
  /** The transaction of another wallet that paid a withdrawal; it pays only one. */
  network: orNull(text<Network>()),
  txid: orNull(text()),
  createdAt: time(),
});
/** A message of a trusted upstream system that took effect. */
export type IngestedRow = RowOf<typeof ingestedTable>;

export const auditTable = table("book.audit", {
  id: text(),
  /** Null where all merchants are concerned. */
  merchantId: orNull(text()),
  /** The key that was used. */
  actor: text(),
  /** For example `withdrawal.approve`. */
  action: text(),
  /** Id of the record. */
  subject: text(),
  before: orNull(json<Readonly<Record<string, unknown>>>()),
  after: orNull(json<Readonly<Record<string, unknown>>>()),
  requestId: orNull(text()),
  createdAt: time(),
});
/** An act of an administrator, stored with its effect. */
export type AuditRow = RowOf<typeof auditTable>;

/** Rows of a decision that may change later: new ones are inserted, known ones updated. */
export const CHANGING_ROWS = {
  withdrawals: withdrawalTable,
  deposits: depositTable,
  transactions: transactionTable,
  addresses: depositAddressTable,
  settlements: settlementTable,
  whitelist: settlementAddressTable,
};

/** Rows of a decision that are written once. */
export const WRITTEN_ONCE = {
  charges: chargeTable,
  outgoing: outgoingTable,
  voided: outgoingVoidTable,
  events: eventTable,
  consumed: inboxKeyTable,
  margins: marginTable,
  /** For the inboxes of other merchants. */
  inbox: inboxTable,
  ingested: ingestedTable,
  audits: auditTable,
};

type RowsOf<T extends Readonly<Record<string, { decode(row: never): unknown }>>> = {
  readonly [K in keyof T]: readonly RowOf<T[K]>[];
};

/** Rows of each kind of {@linkcode CHANGING_ROWS}. */
export type ChangingRows = RowsOf<typeof CHANGING_ROWS>;
/** Rows of each kind of {@linkcode WRITTEN_ONCE}. */
export type WrittenOnce = RowsOf<typeof WRITTEN_ONCE>;

/** No row of any kind. */
export const NO_ROWS = Object.fromEntries<readonly unknown[]>(
  kindsOf({ ...CHANGING_ROWS, ...WRITTEN_ONCE }).map((kind) => [kind, []]),
) as ChangingRows & WrittenOnce;

/** The kinds of rows of a list of tables, in its order. */
export function kindsOf<K extends string>(tables: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(tables) as K[];
}
