/**
 * Rows of payments: postings, deposits, withdrawals, the statement, charges, settlements and margins, field
 * by field in the order of their migration; times are Unix milliseconds.
 *
 * @module
 */

import type { Currency, Network } from "./money/pair.ts";
import type {
  DepositStatus,
  SettlementStatus,
  TransactionStatus,
  WithdrawalStatus,
} from "./money/transitions.ts";
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
  time,
} from "./table.ts";

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
/** One posting as it is stored. */
export type EntryRow = RowOf<typeof entryTable>;

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
  /** The last tick at which a block may hold its transaction: what proves that it has vanished. */
  diesAfter: orNull(bigint()),
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

export const payoutOpeningTable = composite("book.payout_opening", {
  id: text(),
  merchantId: text(),
  seq: bigint(),
  transactionId: text(),
  transactionSeq: bigint(),
  /** Number of its first charge. */
  chargeSeq: bigint(),
  commissionChargeId: text(),
  networkFeeChargeId: text(),
  outgoingId: text(),
  currency: text<Currency>(),
  network: text<Network>(),
  amount: amount(),
  baseFee: amount(),
  markupRate: rate(),
  markupAmount: amount(),
  networkFee: amount(),
  margin: amount(),
  marginTo: orNull(text()),
  /** The line's effect on available, a margin that the merchant itself earns included. */
  effect: amount(),
  destination: text(),
  fromAddress: orNull(text()),
  referenceId: orNull(text()),
  description: orNull(text()),
  createdAt: time(),
  createdBy: orNull(text()),
  createdAdmin: orNull(text()),
});
/**
 * A withdrawal as it begins in the ordinary way: `PENDING` and queued for the treasury. Its rows follow from
 * this one: the withdrawal, its line of the statement, the postings `reserve`, `commission` and `network_fee`,
 * their charges and the outgoing row. `book.commit_batch` derives them, as `openPayout` does.
 */
export type PayoutOpening = RowOf<typeof payoutOpeningTable>;

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
