import { add, type Amount, subtract, ZERO } from "../../../ledger/money/amount.ts";
import { pairKey } from "../../../ledger/money/pair.ts";
import type { EventRow, TransactionRow } from "../../../ledger/rows.ts";
import type { EventType } from "../../../webhooks/event_type.ts";
import { transactionSettledPayload } from "../../../webhooks/payloads/transaction_settled.ts";
import { eventRow, type Posting } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantState } from "../state.ts";

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
  const { ids: [paymentEventId, lineEventId], line, postings, at } = end;
  const { paymentId } = line;
  return [
    eventRow(state, {
      id: paymentEventId,
      paymentId,
      type: end.type,
      at,
      payload: end.payload(paymentEventId),
    }),
    lineEvent(state, { id: lineEventId, line, postings, at }),
  ];
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
