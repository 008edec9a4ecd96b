/**
 * The events that are sent to merchants: their names, which of them a merchant wants, and their
 * bodies, JSON text with its keys in the order of the interface description.
 *
 * @module
 */

import { add, type Amount, formatAmount, max, subtract, ZERO } from "../ledger/money/amount.ts";
import type { Currency, Network } from "../ledger/money/pair.ts";

/** Every event name that is ever sent. Pending states have no event. */
export const EVENT_TYPES = [
  "deposit.confirmed",
  "deposit.failed",
  "withdrawal.confirmed",
  "withdrawal.failed",
  "transaction.confirmed",
  "transaction.failed",
] as const;

/** One of {@linkcode EVENT_TYPES}. */
export type EventType = (typeof EVENT_TYPES)[number];

/** True if the text names an event. */
export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}

/** The event of a test delivery; nothing has happened, and no consumer books anything on it. */
export const TEST_EVENT = "webhook.test";

/** Everything that is ever sent. */
export type SentType = EventType | typeof TEST_EVENT;

/** True if the text names something that is sent. */
export function isSentType(text: string): text is SentType {
  return text === TEST_EVENT || isEventType(text);
}

/**
 * Names that a merchant may list in its subscription: everything that is sent, and what is known not to be
 * (pending states have no event, `payout.*` is not emitted), so that a list made for more than this
 * service sends is taken. Anything else is a mistake after which nothing would arrive.
 */
export const LISTED_EVENT =
  /^((deposit|withdrawal)\.(pending|confirmed|failed)|transaction\.(confirmed|failed)|webhook\.test|payout\.[a-z0-9_.-]{1,57})$/;

/** A merchant's wish for events. Applied when an event is written. */
interface Subscription {
  readonly webhookUrl: string | null;
  readonly webhookEnabled: boolean;
  /** Names that are wanted; null: all of them; empty: none. */
  readonly webhookEvents: readonly string[] | null;
}

/**
 * True if the event is to be delivered. One that is not is stored as skipped, so that it can be
 * sent later on request.
 */
export function isSubscribed(subscription: Subscription, type: EventType): boolean {
  if (!subscription.webhookEnabled || subscription.webhookUrl === null) return false;
  return subscription.webhookEvents === null || subscription.webhookEvents.includes(type);
}

/** Values of `feeCharges.type`. */
export const FEE_CHARGE_TYPES = ["PERCENTAGE", "FIXED_AMOUNT", "HYBRID", "NONE"] as const;

/** One of {@linkcode FEE_CHARGE_TYPES}. */
type FeeChargeType = (typeof FEE_CHARGE_TYPES)[number];

function feeChargeType(proportional: Amount, fixed: Amount): FeeChargeType {
  if (proportional > ZERO) return fixed > ZERO ? "HYBRID" : "PERCENTAGE";
  return fixed > ZERO ? "FIXED_AMOUNT" : "NONE";
}

interface DepositEvent {
  readonly eventId: string;
  readonly depositId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly network: Network;
  /** As stored: `<merchant_id>_<identifier>`; null for a top-up or a manual deposit. */
  readonly identifier: string | null;
  readonly txHash: string | null;
  readonly referenceId: string | null;
  readonly address: string | null;
}

/** Content of `deposit.confirmed`. */
export interface DepositConfirmed extends DepositEvent {
  /** True if this is a top-up of the merchant's own wallet. */
  readonly isTopUp: boolean;
  readonly commission: Amount;
  /** Decimal fraction, for example `"0.01"`. */
  readonly commissionRate: string;
  readonly activationFee: Amount;
  /** Flat fee of a top-up, otherwise zero. */
  readonly flatFee: Amount;
  /** Amount that was credited: the gross one minus all fees, never negative. */
  readonly receivable: Amount;
}

/** Body of `deposit.confirmed`. */
export function depositConfirmedPayload(deposit: DepositConfirmed): string {
  const { isTopUp, commission, activationFee, flatFee } = deposit;
  return JSON.stringify({
    type: "deposit",
    depositId: deposit.depositId,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    network: deposit.network,
    status: "confirmed",
    identifier: deposit.identifier,
    txHash: deposit.txHash,
    referenceId: deposit.referenceId,
    address: deposit.address,
    isMerchantDirectDeposit: isTopUp,
    feeCharges: {
      amount: formatAmount(isTopUp ? flatFee : commission),
      percentage: isTopUp ? "0" : deposit.commissionRate,
      type: isTopUp ? "FIXED_AMOUNT" : feeChargeType(commission, add(activationFee, flatFee)),
      activationFee: { amount: formatAmount(activationFee), charged: activationFee > ZERO },
    },
    receivableAmount: formatAmount(deposit.receivable),
    eventId: deposit.eventId,
  });
}

/** Content of `deposit.failed`. */
export interface DepositFailed extends DepositEvent {
  readonly reason: string;
}

/** Body of `deposit.failed`. */
export function depositFailedPayload(deposit: DepositFailed): string {
  return JSON.stringify({
    type: "deposit",
    depositId: deposit.depositId,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    network: deposit.network,
    identifier: deposit.identifier,
    status: "failed",
    reason: deposit.reason,
    txHash: deposit.txHash,
    referenceId: deposit.referenceId,
    address: deposit.address,
    eventId: deposit.eventId,
  });
}

interface WithdrawalEvent {
  readonly eventId: string;
  readonly withdrawalId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly network: Network;
  /** Of a failed one the transaction that failed on chain, null where none was ever included. */
  readonly txHash: string | null;
  readonly referenceId: string | null;
  /** Destination of the payout. */
  readonly address: string;
}

/** Content of `withdrawal.confirmed`. */
export interface WithdrawalConfirmed extends WithdrawalEvent {
  /** Fixed part of the commission. */
  readonly baseFee: Amount;
  /** Proportional part of the commission. */
  readonly markupAmount: Amount;
  /** Decimal fraction of the proportional part, for example `"0.002"`. */
  readonly markupRate: string;
  readonly networkFee: Amount;
}

/** Body of `withdrawal.confirmed`. */
export function withdrawalConfirmedPayload(withdrawal: WithdrawalConfirmed): string {
  const { amount, baseFee, markupAmount } = withdrawal;
  const commission = add(baseFee, markupAmount);
  return JSON.stringify({
    type: "withdrawal",
    withdrawalId: withdrawal.withdrawalId,
    amount: formatAmount(amount),
    currency: withdrawal.currency,
    network: withdrawal.network,
    status: "confirmed",
    txHash: withdrawal.txHash,
    referenceId: withdrawal.referenceId,
    address: withdrawal.address,
    identifier: withdrawal.referenceId,
    feeCharges: {
      amount: formatAmount(commission),
      percentage: withdrawal.markupRate,
      type: feeChargeType(markupAmount, baseFee),
      networkFee: formatAmount(withdrawal.networkFee),
    },
    receivableAmount: formatAmount(max(subtract(amount, commission), ZERO)),
    eventId: withdrawal.eventId,
  });
}

/** Content of `withdrawal.failed`. */
export interface WithdrawalFailed extends WithdrawalEvent {
  readonly reason: string;
}

/** Body of `withdrawal.failed`. */
export function withdrawalFailedPayload(withdrawal: WithdrawalFailed): string {
  return JSON.stringify({
    type: "withdrawal",
    withdrawalId: withdrawal.withdrawalId,
    amount: formatAmount(withdrawal.amount),
    currency: withdrawal.currency,
    network: withdrawal.network,
    status: "failed",
    reason: withdrawal.reason,
    txHash: withdrawal.txHash,
    referenceId: withdrawal.referenceId,
    address: withdrawal.address,
    identifier: withdrawal.referenceId,
    eventId: withdrawal.eventId,
  });
}

/** Content of `transaction.confirmed` and `transaction.failed`. */
export interface TransactionSettled {
  readonly eventId: string;
  readonly transactionId: string;
  readonly transactionType: "DEPOSIT" | "WITHDRAWAL";
  /** Effect on the available balance: negative for money out. */
  readonly amount: Amount;
  readonly fee: Amount;
  readonly currency: Currency;
  readonly network: Network;
  readonly status: "confirmed" | "failed";
  readonly txHash: string | null;
  readonly referenceId: string | null;
  /** Available balance of the pair right after this change, null where it is not known. */
  readonly balanceAfter: Amount | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Body of `transaction.confirmed` and `transaction.failed`. */
export function transactionSettledPayload(transaction: TransactionSettled): string {
  const { amount, fee, balanceAfter } = transaction;
  return JSON.stringify({
    type: "transaction",
    transactionId: transaction.transactionId,
    transactionType: transaction.transactionType,
    amount: formatAmount(amount),
    fee: formatAmount(fee),
    currency: transaction.currency,
    network: transaction.network,
    status: transaction.status,
    txHash: transaction.txHash,
    referenceId: transaction.referenceId,
    balanceAfter: balanceAfter === null ? null : formatAmount(balanceAfter),
    createdAt: new Date(transaction.createdAt).toISOString(),
    eventId: transaction.eventId,
  });
}

/** Body of a test delivery; its type is none of those that announce money. @param createdAt Unix milliseconds */
export function webhookTestPayload(eventId: string, createdAt: number): string {
  return JSON.stringify({
    type: TEST_EVENT,
    message: "A test of this endpoint; nothing happened.",
    createdAt: new Date(createdAt).toISOString(),
    eventId,
  });
}
