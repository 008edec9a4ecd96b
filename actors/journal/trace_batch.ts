/**
 * The spans of a commit: the batch, and each payment that it moved.
 *
 * @module
 */

import { formatAmount } from "../../ledger/money/amount.ts";
import { traceSpan } from "../../log/traces.ts";
import type { MerchantBatch } from "./decide_batch.ts";
import { paymentMoves } from "./payment_moves.ts";

/**
 * Traces what was committed.
 *
 * @param from when the batch was begun, Unix milliseconds of this machine
 */
export function traceBatch(commit: string, from: number, parts: readonly MerchantBatch[]): void {
  const dirty = parts.filter(({ unit }) => unit.isDirty);
  const moves = dirty.flatMap(({ unit }) => paymentMoves(unit));
  traceSpan("journal.batch", {
    of: commit,
    from,
    attributes: {
      commit,
      merchants: dirty.length,
      messages: parts.reduce((count, { messages }) => count + messages.length, 0),
      moves: moves.length,
    },
    links: moves.map(({ id }) => id),
  });
  const settlements = settlementsOf(dirty);
  for (const { id, merchantId, kind, status, network, currency, amount, txid, reason } of moves) {
    const settlement = settlements.get(id);
    traceSpan("payment.move", {
      of: id,
      from,
      attributes: {
        payment: id,
        merchant: merchantId,
        kind,
        status,
        network,
        currency,
        amount: formatAmount(amount),
        txid,
        reason,
      },
      links: settlement === undefined ? [commit] : [commit, settlement],
    });
  }
}

/** The settlements of payouts, by the payouts' ids. */
function settlementsOf(parts: readonly MerchantBatch[]): ReadonlyMap<string, string> {
  const rows = parts.flatMap(({ unit }) => {
    const { created, changed } = unit.changes();
    return [...created.withdrawals, ...changed.withdrawals];
  });
  return new Map(
    rows.flatMap(({ id, settlementId }) => settlementId === null ? [] : [[id, settlementId]]),
  );
}
