import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, text } from "../table.ts";
import type { OutcomeFinding } from "./record_outcomes.ts";

const shownShape = shape({
  txid: text(),
  outgoingId: text(),
  wallet: text(),
  currency: text(),
  destination: text(),
  amount: amount(),
  height: bigint(),
});

/**
 * Finds transfers that have paid and that are not the only ones of their kind: another one of the service moves the same between
 * the same addresses, and has not ended, or has ended in the very block. What such a transfer did is no proof of which of them it is.
 */
export async function findAlike(
  sql: Sql,
  network: Network,
  paid: readonly OutcomeFinding[],
): Promise<ReadonlySet<OutcomeFinding>> {
  if (paid.length === 0) return new Set();
  const shown = paid.map(({ own, height }) => ({ ...own, height }));
  const rows = await sql<{ id: string }[]>`
    WITH shown AS MATERIALIZED (
      SELECT * FROM ${shownShape.rows(sql, "f", shown)}
    ), other AS (
      SELECT a.outgoing_id, a.merchant_id, a.txid, a.height FROM book.attempt a
      WHERE a.network = ${network} AND a.outcome IS NULL AND a.nonce IS NOT NULL
      UNION ALL
      SELECT a.outgoing_id, a.merchant_id, a.txid, a.height FROM book.attempt a
      WHERE a.network = ${network} AND a.height IN (SELECT height FROM shown)
    )
    SELECT DISTINCT f.outgoing_id AS id FROM other a
    JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    JOIN shown f ON f.destination = o.destination AND f.amount = o.amount AND f.currency = o.currency
      AND f.wallet = o.wallet AND f.outgoing_id <> o.id AND f.txid <> a.txid
      AND (a.height IS NULL OR a.height = f.height)`;
  const ids = new Set(rows.map(({ id }) => id));
  return new Set(paid.filter(({ own }) => ids.has(own.outgoingId)));
}
