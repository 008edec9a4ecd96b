/**
 * The statement of a merchant: the line of each payment, its charges, and the events of its end.
 *
 * @module
 */

import { add, type Amount, subtract, ZERO } from "../../../ledger/money/amount.ts";
import { pairKey } from "../../../ledger/money/pair.ts";
import type { ChargeRow, TransactionRow } from "../../../ledger/payment_rows.ts";
import { UNDER_ONE_USD } from "../../../ledger/outbox/withheld.ts";
import type { EventRow } from "../../../ledger/rows.ts";
import {
  type EventType,
  isSubscribed,
  transactionSettledPayload,
} from "../../../webhooks/events.ts";
import type { Posting } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantState, Records } from "../state.ts";

/** The next line of the statement; pending and without effect unless given. */
export function newLine(
  { merchant: { merchantId }, transactionSeq }: MerchantState,
  line:
    & Pick<TransactionRow, "id" | "paymentId" | "type" | "currency" | "network" | "createdAt">
    & Partial<Omit<TransactionRow, "merchantId" | "seq">>,
): TransactionRow {
  const { id, paymentId, type, status = "PENDING", currency, network, createdAt } = line;
  const { effect = ZERO, fee = ZERO, txid = null, height = null } = line;
  const { fromAddress = null, toAddress = null } = line;
  const { referenceId = null, description = null, category = null } = line;
  return {
    merchantId,
    seq: transactionSeq + 1,
    id,
    paymentId,
    type,
    status,
    currency,
    network,
    effect,
    fee,
    txid,
    height,
    fromAddress,
    toAddress,
    referenceId,
    description,
    category,
    createdAt,
  };
}

/**
 * A payment's line of the statement.
 *
 * @param doing what cannot be done without it
 * @throws when it is missing: payments are read with their lines
 */
export function lineOf(
  { transactions }: Pick<Records, "transactions">,
  { id, transactionSeq }: { readonly id: string; readonly transactionSeq: number },
  doing: string,
): TransactionRow {
  const line = transactions.get(transactionSeq);
  if (line === undefined) {
    throw new Error(`Cannot ${doing} as its statement line is missing: ${id}`);
  }
  return line;
}

/** Rows of the charge ledger for what a payment is charged, or given back of it (negative). */
export function chargesOf(
  { merchant: { merchantId }, chargeSeq }: MerchantState,
  { id: paymentId, currency, network }: Pick<TransactionRow, "id" | "currency" | "network">,
  charges: readonly Pick<ChargeRow, "type" | "amount" | "id">[],
  createdAt: number,
): readonly ChargeRow[] {
  return charges.filter(({ amount }) => amount !== 0n).map(({ type, amount, id }, index) => ({
    merchantId,
    seq: chargeSeq + 1 + index,
    id,
    paymentId,
    type,
    currency,
    network,
    amount,
    createdAt,
  }));
}

/** The end of a payment, as its events show it. */
export interface End {
  readonly ids: EventIds;
  readonly type: Exclude<EventType, `transaction.${string}`>;
  /** Body of the payment's own event. */
  readonly payload: (eventId: string) => string;
  /** The payment's statement line in its new image. */
  readonly line: TransactionRow;
  /** Everything the end moves. */
  readonly postings: readonly Posting[];
  readonly at: number;
}

/**
 * The events of a payment's end: that of the payment, then that of its line of the statement. A
 * line's event says what the statement shows of it: one undone has no effect.
 *
 * @param state the account before the end
 * @throws for a settlement, which is read and not called back
 */
export function endEvents(state: MerchantState, end: End): readonly EventRow[] {
  const { ids: [id, lineEventId], type, line, at } = end;
  return [
    eventRow(state, { id, paymentId: line.paymentId, type, at, payload: end.payload(id) }),
    lineEvent(state, { ...end, id: lineEventId }),
  ];
}

/**
 * The event of a payment's end that is never sent: the merchant's log of deliveries shows it, and why.
 *
 * @param state the account before the end
 */
export function withheldEvent(
  state: MerchantState,
  { ids: [id], type, payload, line, at }: End,
): EventRow {
  const event = eventRow(state, { id, paymentId: line.paymentId, type, at, payload: payload(id) });
  return { ...event, status: "SKIPPED", lastOutcome: UNDER_ONE_USD };
}

/**
 * Makes the callback event `transaction.confirmed` or `transaction.failed` of a statement line that
 * has ended.
 *
 * @param state the account before the end
 * @throws for a settlement, which is read and not called back
 */
export function lineEvent(
  state: MerchantState,
  { id, line, postings, at }: Pick<End, "line" | "postings" | "at"> & { readonly id: string },
): EventRow {
  const { paymentId, type: transactionType, currency, network } = line;
  if (transactionType === "SETTLEMENT") {
    throw new Error(`Cannot make an event of a settlement as it has none: ${paymentId}`);
  }
  const status = line.status === "CONFIRMED" ? "confirmed" : "failed";
  const payload = transactionSettledPayload({
    eventId: id,
    transactionId: line.id,
    transactionType,
    amount: line.effect,
    fee: line.fee,
    currency,
    network,
    status,
    txHash: line.txid,
    referenceId: line.referenceId,
    balanceAfter: availableAfter(state, { line, postings }),
    createdAt: line.createdAt,
  });
  return eventRow(state, { id, paymentId, type: `transaction.${status}`, at, payload });
}

/** Available of the line's pair once the postings are made. */
function availableAfter(
  state: MerchantState,
  { line, postings }: Pick<End, "line" | "postings">,
): Amount {
  const key = pairKey(line.currency, line.network);
  let available = state.balances.get(key)?.available ?? ZERO;
  for (const { from, to, currency, network, amount } of postings) {
    if (pairKey(currency, network) !== key) continue;
    if (to === "available") available = add(available, amount);
    if (from === "available") available = subtract(available, amount);
  }
  return available;
}

/** The outbox row of an event; skipped when the merchant does not want it now. */
function eventRow(
  { merchant }: MerchantState,
  { at, ...event }: Pick<EventRow, "id" | "paymentId" | "payload"> & {
    readonly type: EventType;
    readonly at: number;
  },
): EventRow {
  return {
    ...event,
    merchantId: merchant.merchantId,
    status: isSubscribed(merchant, event.type) ? "PENDING" : "SKIPPED",
    attempts: 0,
    nextAttemptAt: at,
    claimedUntil: null,
    claimedBy: null,
    lastOutcome: null,
    createdAt: at,
    deliveredAt: null,
  };
}
