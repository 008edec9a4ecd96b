/**
 * A merchant's account in memory: what it holds, the records that a message speaks of, and the
 * settings in force. Every row has a default, so that a specification names only what matters to it.
 *
 * @module
 */

import {
  CLAIM,
  type MerchantState,
  type MerchantView,
  paymentKey,
  Records,
} from "../../../actors/merchant/state.ts";
import type { Settings } from "../../../ledger/settings.ts";
import { amountOf as amount, ZERO } from "../../../ledger/money/amount.ts";
import { type Network, pairKey } from "../../../ledger/money/pair.ts";
import type { OutgoingStatus } from "../../../ledger/money/transitions.ts";
import {
  type DepositRow,
  NO_HANDS,
  type SettlementAddressRow,
  type SettlementRow,
  type TransactionRow,
  type WithdrawalRow,
} from "../../../ledger/payment_rows.ts";
import type { DepositAddressRow, MerchantRow } from "../../../ledger/rows.ts";

export { amount, CLAIM };

/** The time of every message. */
export const NOW = Date.UTC(2026, 0, 1, 12);
export const HOUR = 3_600_000;
/** The merchant, and the destination of its payouts. */
export const MERCHANT = "mer_1";
export const DESTINATION = "T-dest";
export const TXID = "aa";

/** An account, as far as a specification differs from a merchant with 100 USDT and no fees. */
export interface Account {
  readonly merchant?: Partial<MerchantRow>;
  /** Null: the pair has no balance row. */
  readonly available?: string | null;
  readonly pending?: string;
  readonly reserved?: string;
  /** Amount that the hot wallet has left; absent: not known. */
  readonly hot?: string;
  /** Time of the last decision; absent: long ago. */
  readonly lastAt?: number;
  /** The withdrawal that holds each reference. */
  readonly references?: Readonly<Record<string, string>>;
  /** False: who holds references was not read. */
  readonly hasReferences?: boolean;
  readonly withdrawals?: readonly WithdrawalRow[];
  /** The state of each payout; absent: as the state of its withdrawal has it. */
  readonly payouts?: Readonly<Record<string, OutgoingStatus>>;
  readonly settlements?: readonly SettlementRow[];
  readonly whitelist?: readonly SettlementAddressRow[];
  readonly deposits?: readonly DepositRow[];
  readonly addresses?: readonly DepositAddressRow[];
  /** Hash of the body of each upstream event that has taken effect. */
  readonly ingested?: Readonly<Record<string, string>>;
  /** Transactions of other wallets that have paid a withdrawal. */
  readonly payments?: readonly string[];
  /** Transactions that paid, or were booked by hand for, another merchant. */
  readonly ofAnother?: readonly string[];
}

/** Settings, as far as they differ from one open pair without fees. */
export interface Terms {
  readonly fees?: { readonly base: string; readonly markup: string };
  readonly networkFee?: string;
  readonly networkFeeMode?: "fixed" | "dynamic";
  readonly min?: string;
  readonly deposits?: boolean;
  readonly withdrawals?: boolean;
  readonly threshold?: string;
  /** False: the settings do not name the pair. */
  readonly pair?: false;
}

export function settingsOf(terms: Terms): Settings {
  const { fees } = terms;
  return {
    epoch: "1",
    fees: {
      enabled: fees !== undefined,
      baseFee: amount(fees?.base ?? "0"),
      markupRate: fees?.markup ?? "0",
    },
    settlementThresholds: new Map([["USDT", amount(terms.threshold ?? "1000")]]),
    pairs: terms.pair === false ? new Map() : new Map([[pairKey("USDT", "TRX"), {
      currency: "USDT",
      network: "TRX",
      depositsEnabled: terms.deposits ?? true,
      withdrawalsEnabled: terms.withdrawals ?? true,
      minWithdrawal: amount(terms.min ?? "1"),
      networkFee: amount(terms.networkFee ?? "0"),
      networkFeeMode: terms.networkFeeMode ?? "fixed",
    }]]),
  };
}

export function merchant(fields: Partial<MerchantRow> = {}): MerchantRow {
  return {
    merchantId: MERCHANT,
    slot: 0,
    status: "ACTIVE",
    name: "One",
    depositCommissionRate: "0",
    directDepositFee: ZERO,
    webhookUrl: "https://shop.example/hook",
    webhookSecret: "whsec_now",
    webhookSecretPrevious: null,
    webhookPreviousUntil: null,
    webhookEnabled: true,
    webhookEvents: null,
    webhookTimeoutMs: 10_000,
    webhookRetryCount: 3,
    successUrl: null,
    failureUrl: null,
    pageOrigins: null,
    logoColor: null,
    rateLimits: {},
    resellerId: null,
    marginRate: "0",
    marginBeneficiary: null,
    createdAt: 0,
    ...fields,
  };
}

/** A margin of half the fees: the merchant's own, or its reseller's. */
export const OWN_MARGIN = { marginBeneficiary: MERCHANT, marginRate: "0.5" } as const;
export const RESELLER_MARGIN = { marginBeneficiary: "mer_reseller", marginRate: "0.5" } as const;

/** The account as a decision reads it. */
export function viewOf(account: Account): MerchantView {
  const records = new Records();
  const { withdrawals = [], deposits = [], payouts = {} } = account;
  records.put({
    withdrawals,
    deposits,
    transactions: [...withdrawals.map(withdrawalLine), ...deposits.map(depositLine)],
    addresses: account.addresses ?? [],
    settlements: account.settlements ?? [],
    whitelist: account.whitelist ?? [],
    ingested: [],
  });
  for (const row of withdrawals) {
    const payout = payouts[row.outgoingId] ?? PAYOUT_OF[row.status];
    if (payout !== undefined) records.outgoing.set(row.outgoingId, payout);
  }
  records.hasReferences = account.hasReferences ?? true;
  for (const [reference, id] of Object.entries(account.references ?? {})) {
    records.holders.set(reference, id);
  }
  for (const [id, hash] of Object.entries(account.ingested ?? {})) records.ingested.set(id, hash);
  for (const txid of account.payments ?? []) records.payments.add(paymentKey("TRX", txid));
  for (const txid of account.ofAnother ?? []) records.ofAnother.add(paymentKey("TRX", txid));
  const hot = account.hot === undefined ? null : amount(account.hot);
  return {
    state: stateOf(account),
    records,
    liquidity: { left: () => hot },
  };
}

const PAYOUT_OF: Readonly<Record<WithdrawalRow["status"], OutgoingStatus | undefined>> = {
  PENDING_APPROVAL: undefined,
  PENDING: "queued",
  CONFIRMED: "final",
  FAILED: "void",
  CANCELLED: undefined,
};

/** The account by itself, without records. */
export function stateOf(
  { available = "100", pending, reserved, ...account }: Account,
): MerchantState {
  const balance = {
    available: amount(available ?? "0"),
    pending: amount(pending ?? "0"),
    reserved: amount(reserved ?? "0"),
  };
  return {
    merchant: merchant(account.merchant),
    version: 1,
    lastCommit: "1",
    depositSeq: 1,
    withdrawalSeq: 1,
    transactionSeq: 10,
    chargeSeq: 1,
    settlementSeq: 1,
    lastAt: account.lastAt ?? 0,
    balances: available === null ? new Map() : new Map([[pairKey("USDT", "TRX"), balance]]),
  };
}

/** A pending withdrawal of 10 USDT, wd_1 with the payout out_1. */
export function withdrawal(fields: Partial<WithdrawalRow> = {}): WithdrawalRow {
  const isOver = /CONFIRMED|FAILED|CANCELLED/.test(fields.status ?? "");
  return {
    id: "wd_1",
    merchantId: MERCHANT,
    seq: 1,
    transactionSeq: 1,
    settlementId: null,
    outgoingId: "out_1",
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    baseFee: ZERO,
    markupRate: "0",
    markupAmount: ZERO,
    networkFee: ZERO,
    margin: ZERO,
    marginTo: null,
    destination: DESTINATION,
    referenceId: null,
    description: null,
    status: "PENDING",
    reason: null,
    txid: null,
    createdAt: NOW - HOUR,
    processedAt: isOver ? NOW - HOUR / 2 : null,
    ...NO_HANDS,
    ...fields,
  };
}

/** The fees of a withdrawal: 1 to the house, 2 to the network. */
export const CHARGED = {
  baseFee: amount("0.4"),
  markupRate: "0.06",
  markupAmount: amount("0.6"),
  networkFee: amount("2"),
} as const;

function withdrawalLine(row: WithdrawalRow): TransactionRow {
  const fee = row.baseFee + row.markupAmount + row.networkFee;
  return {
    merchantId: MERCHANT,
    seq: row.transactionSeq,
    id: `txn_${row.transactionSeq}`,
    paymentId: row.id,
    type: row.settlementId === null ? "WITHDRAWAL" : "SETTLEMENT",
    status: row.status === "PENDING_APPROVAL" ? "PENDING" : row.status,
    currency: row.currency,
    network: row.network,
    effect: -(row.amount + fee) as typeof ZERO,
    fee: fee as typeof ZERO,
    txid: row.txid,
    height: null,
    fromAddress: null,
    toAddress: row.destination,
    referenceId: row.referenceId,
    description: null,
    category: null,
    createdAt: row.createdAt,
  };
}

/** A settlement of 10 USDT that is paid out by wd_1. */
export function settlement(fields: Partial<SettlementRow> = {}): SettlementRow {
  const { status = "PROCESSING" } = fields;
  return {
    id: "stl_1",
    merchantId: MERCHANT,
    seq: 1,
    withdrawalId: "wd_1",
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    totalFees: ZERO,
    address: DESTINATION,
    label: "treasury",
    status,
    reason: null,
    idempotencyKey: null,
    bodyHash: null,
    neededApproval: status === "APPROVAL_REQUIRED",
    createdAt: NOW - HOUR,
    updatedAt: NOW - HOUR,
    history: status === "PENDING" ? [step("PENDING")] : [step("PENDING"), step(status)],
    ...NO_HANDS,
    ...fields,
  };
}

function step(status: SettlementRow["status"]): SettlementRow["history"][number] {
  return { status, at: new Date(NOW - HOUR).toISOString() };
}

/** A settlement and the withdrawal that carries it out. */
export function settling(
  status: SettlementRow["status"],
  withdrawalStatus: WithdrawalRow["status"],
  fields: Partial<SettlementRow> & Partial<Pick<WithdrawalRow, keyof typeof CHARGED>> = {},
): Pick<Account, "settlements" | "withdrawals" | "reserved"> {
  const { baseFee = ZERO, markupRate = "0", markupAmount = ZERO, networkFee = ZERO, ...rest } =
    fields;
  const fees = { baseFee, markupRate, markupAmount, networkFee };
  const row = withdrawal({ seq: null, settlementId: "stl_1", status: withdrawalStatus, ...fees });
  return { settlements: [settlement({ status, ...rest })], withdrawals: [row], reserved: "10" };
}

/** An address of the merchant's own, open for settlements. */
export function listed(fields: Partial<SettlementAddressRow> = {}): SettlementAddressRow {
  return {
    id: "sad_1",
    merchantId: MERCHANT,
    network: "TRX",
    address: DESTINATION,
    label: "treasury",
    active: true,
    removedAt: null,
    createdAt: 0,
    ...NO_HANDS,
    ...fields,
  };
}

/** A pending deposit of 10 USDT that the chain has brought, dep_1. */
export function deposit(fields: Partial<DepositRow> = {}): DepositRow {
  return {
    id: "dep_1",
    merchantId: MERCHANT,
    seq: 1,
    transactionSeq: 2,
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    status: "PENDING",
    reason: null,
    source: "onchain",
    referenceId: null,
    description: null,
    commission: ZERO,
    commissionRate: "0",
    fixedFee: ZERO,
    usdRate: "1",
    margin: ZERO,
    marginTo: null,
    addressId: "adr_1",
    address: "T-customer",
    txid: TXID,
    logIndex: 0,
    sender: "T-payer",
    height: 7,
    diesAfter: NOW + HOUR,
    expiresAt: NOW + HOUR,
    metadata: { txHash: TXID },
    createdAt: NOW - HOUR,
    updatedAt: NOW - HOUR,
    clearedAt: fields.status === "CONFIRMED" ? NOW - HOUR / 2 : null,
    ...NO_HANDS,
    endorsedBy: null,
    endorsedAdmin: null,
    ...fields,
  };
}

/** A pending deposit that an administrator has booked by hand. */
export function manual(fields: Partial<DepositRow> = {}): DepositRow {
  return deposit({
    source: "manual",
    addressId: null,
    address: null,
    txid: null,
    logIndex: null,
    sender: null,
    height: null,
    expiresAt: null,
    metadata: {},
    ...fields,
  });
}

/** A pending deposit by hand that names a whole transaction. */
export function claim(fields: Partial<DepositRow> = {}): DepositRow {
  return manual({ id: "dep_claim", transactionSeq: 3, txid: TXID, logIndex: CLAIM, ...fields });
}

function depositLine(row: DepositRow): TransactionRow {
  return {
    merchantId: MERCHANT,
    seq: row.transactionSeq,
    id: `txn_${row.transactionSeq}`,
    paymentId: row.id,
    type: "DEPOSIT",
    status: row.status,
    currency: row.currency,
    network: row.network,
    effect: ZERO,
    fee: ZERO,
    txid: row.txid,
    height: row.height,
    fromAddress: row.sender,
    toAddress: row.address,
    referenceId: row.referenceId,
    description: null,
    category: null,
    createdAt: row.createdAt,
  };
}

/** An end customer's address, used before. */
export function address(fields: Partial<DepositAddressRow> = {}): DepositAddressRow {
  return {
    id: "adr_1",
    merchantId: MERCHANT,
    network: "TRX",
    address: "T-customer",
    walletIndex: 5,
    kind: "issued",
    identifier: "cust",
    referenceId: null,
    activated: true,
    createdAt: 0,
    ...fields,
  };
}

/** The merchant's own address for top-ups. */
export function topUp(network: Network = "TRX"): DepositAddressRow {
  const kind = "top_up";
  return address({ id: "adr_top", network, address: "T-top", kind, identifier: null });
}

/** A top-up of 10 USDT that is final and waits for its sweep. */
export function toppedUp(fields: Partial<DepositRow> = {}): DepositRow {
  return deposit({
    source: "top_up",
    addressId: "adr_top",
    address: "T-top",
    expiresAt: null,
    ...fields,
  });
}
