/**
 * The rows of the `book` schema, field by field in the order of their migration; times are Unix
 * milliseconds. The one place that lists columns and kinds of rows: types, the parameters of the
 * journal's write and what a decision changes follow from it.
 *
 * @module
 */

import type { Currency, Network, OutgoingAsset } from "./money/pair.ts";
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
  type RowOfColumns,
  table,
  text,
  texts,
  time,
} from "./table.ts";
import type {
  DepositStatus,
  OutgoingStatus,
  SettlementStatus,
  TransactionStatus,
  WithdrawalStatus,
} from "./money/transitions.ts";

/** A merchant that is not active creates no payments. */
export type MerchantStatus = "ACTIVE" | "SUSPENDED" | "INACTIVE";

/** Accounts a posting can touch; the first three belong to the merchant, the rest to the system. */
export type Account =
  | "available"
  | "pending"
  | "reserved"
  | "world"
  | "commission"
  | "network_fee"
  | "activation_fee"
  | "direct_deposit_fee"
  | "margin_held"
  | "margin_due";

const HANDS = {
  createdBy: orNull(text()),
  createdAdmin: orNull(text()),
  approvedBy: orNull(text()),
  approvedAdmin: orNull(text()),
};
/**
 * The key that made a record and the one that let it go, each with the administrator who stands
 * behind it; null: the chain or the service itself, or not yet.
 */
export type Hands = RowOfColumns<typeof HANDS>;

/** The hands of a record that no key has made. */
export const NO_HANDS: Hands = {
  createdBy: null,
  createdAdmin: null,
  approvedBy: null,
  approvedAdmin: null,
};

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

export const entryTable = table("book.entry", {
  paymentId: text(),
  leg: text(),
  merchantId: text(),
  fromAccount: text<Account>(),
  toAccount: text<Account>(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  createdAt: time(),
});
/** One posting as it is kept. */
export type EntryRow = RowOf<typeof entryTable>;

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

export const depositTable = table("book.deposit", {
  id: text(),
  merchantId: text(),
  seq: bigint(),
  transactionSeq: bigint(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  status: text<DepositStatus>(),
  reason: orNull(text()),
  source: text(),
  referenceId: orNull(text()),
  description: orNull(text()),
  commission: amount(),
  commissionRate: rate(),
  fixedFee: amount(),
  usdRate: orNull(rate()),
  /** Share of its fees that went (or is held) for `marginTo`. */
  margin: amount(),
  marginTo: orNull(text()),
  addressId: orNull(text()),
  address: orNull(text()),
  txid: orNull(text()),
  logIndex: orNull(integer()),
  sender: orNull(text()),
  height: orNull(bigint()),
  expiresAt: orNull(time()),
  metadata: json<Readonly<Record<string, unknown>>>(),
  createdAt: time(),
  updatedAt: time(),
  clearedAt: orNull(time()),
  ...HANDS,
  /** The first of two administrators who confirm a large deposit by hand. */
  endorsedBy: orNull(text()),
  endorsedAdmin: orNull(text()),
});
/** A deposit. `fixedFee` is the activation fee or a top-up's flat fee. */
export type DepositRow = RowOf<typeof depositTable>;

export const withdrawalTable = table("book.withdrawal", {
  id: text(),
  merchantId: text(),
  seq: orNull(bigint()),
  transactionSeq: bigint(),
  /** The settlement it carries out, null for an ordinary one. */
  settlementId: orNull(text()),
  outgoingId: text(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  baseFee: amount(),
  markupRate: rate(),
  markupAmount: amount(),
  networkFee: amount(),
  /** Share of its commission that went (or is held) for `marginTo`. */
  margin: amount(),
  marginTo: orNull(text()),
  destination: text(),
  referenceId: orNull(text()),
  description: orNull(text()),
  status: text<WithdrawalStatus>(),
  reason: orNull(text()),
  txid: orNull(text()),
  createdAt: time(),
  processedAt: orNull(time()),
  ...HANDS,
});
/** A withdrawal; `seq` is null for the one behind a settlement, which is not listed. */
export type WithdrawalRow = RowOf<typeof withdrawalTable>;

export const transactionTable = table("book.transaction", {
  merchantId: text(),
  seq: bigint(),
  id: text(),
  paymentId: text(),
  type: text<"DEPOSIT" | "WITHDRAWAL" | "SETTLEMENT">(),
  status: text<TransactionStatus>(),
  currency: text<Currency>(),
  network: text<Network>(),
  /** The row's whole effect on available; negative for money out, zero while it has none. */
  effect: amount(),
  fee: amount(),
  txid: orNull(text()),
  height: orNull(bigint()),
  fromAddress: orNull(text()),
  toAddress: orNull(text()),
  referenceId: orNull(text()),
  description: orNull(text()),
  category: orNull(text()),
  createdAt: time(),
});
/** One line of the merchant's statement. */
export type TransactionRow = RowOf<typeof transactionTable>;

export const chargeTable = table("book.charge", {
  merchantId: text(),
  seq: bigint(),
  id: text(),
  paymentId: text(),
  type: text<
    | "ADDRESS_ACTIVATION"
    | "DIRECT_DEPOSIT"
    | "DEPOSIT_COMMISSION"
    | "WITHDRAWAL_COMMISSION"
    | "NETWORK_FEE"
    | "REVERSAL"
  >(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  createdAt: time(),
});
/** One fee taken, or its reversal (negative). */
export type ChargeRow = RowOf<typeof chargeTable>;

export const outgoingTable = table("book.outgoing", {
  id: text(),
  merchantId: text(),
  kind: text<"payout" | "settlement" | "sweep" | "gas" | "delegation" | "reclaim" | "cold">(),
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

export const settlementAddressTable = table("book.settlement_address", {
  id: text(),
  merchantId: text(),
  network: text<Network>(),
  address: text(),
  label: text(),
  active: boolean(),
  removedAt: orNull(time()),
  createdAt: time(),
  ...HANDS,
});
/** An address that a merchant may settle to, once an administrator has activated it. */
export type SettlementAddressRow = RowOf<typeof settlementAddressTable>;

/** A state that a settlement was in. */
export interface SettlementStep {
  readonly status: SettlementStatus;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export const settlementTable = table("book.settlement", {
  id: text(),
  merchantId: text(),
  seq: bigint(),
  withdrawalId: text(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  totalFees: amount(),
  address: text(),
  label: text(),
  status: text<SettlementStatus>(),
  reason: orNull(text()),
  idempotencyKey: orNull(text()),
  bodyHash: orNull(text()),
  /** True where it waited for an administrator when it was created. */
  neededApproval: boolean(),
  createdAt: time(),
  updatedAt: time(),
  ...HANDS,
  /** Every state it was in, oldest first: `PENDING` first, `status` last. */
  history: json<readonly SettlementStep[]>(),
});
/** A payout to a whitelisted address of the merchant's own. */
export type SettlementRow = RowOf<typeof settlementTable>;

export const marginTable = table("book.margin", {
  paymentId: text(),
  leg: text(),
  merchantId: text(),
  beneficiary: text(),
  currency: text<Currency>(),
  network: text<Network>(),
  /** The amount that the fee was charged on. */
  volume: amount(),
  fee: amount(),
  earned: amount(),
  reversed: amount(),
  createdAt: time(),
});
/** One share of a fee, credited or held (`earned`), or taken back (`reversed`). */
export type MarginRow = RowOf<typeof marginTable>;

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
/** An act of an administrator, kept with its effect. */
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
