/**
 * Signed transactions that are under way.
 *
 * @module
 */

import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { orNull, type RowOf, text, time } from "../table.ts";

const inFlightShape = shape({
  outgoingId: text(),
  /** The withdrawal it pays, null for internal transfers. */
  paymentId: orNull(text()),
  txid: text(),
  bytes: text(),
  /** For people and timers, Unix milliseconds; null: its nonce ends it. */
  expiresAt: orNull(time()),
});
/** A signed transaction whose outcome is not known yet, with one of the intents that it carries. */
export type InFlight = RowOf<typeof inFlightShape>;

/**
 * Signed transactions of a network without an outcome that are to be sent, oldest first: those that no
 * block shows. Where a block showed one which the solid cursor has passed since, the chain took it back. One
 * that carries several intents is there once, by the first of them.
 */
export async function readInFlight(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly InFlight[]> {
  return inFlightShape.all(
    await sql`
    SELECT a.outgoing_id, o.payment_id, a.txid, a.bytes, a.expires_at
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
      AND NOT a.adopted AND a.place = 0
      AND (a.seen_height IS NULL OR a.seen_height <= (
        SELECT c.height FROM hub.cursor c WHERE c.network = o.network AND c.view = 'solid'))
    WHERE o.network = ${network} AND o.status = 'signed' ORDER BY o.id LIMIT ${limit}`,
  );
}

/** Counts the signed transactions of a network that have no outcome yet. */
export async function countInFlight(sql: Sql, network: Network): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM book.outgoing WHERE network = ${network} AND status = 'signed'`;
  return row?.count ?? 0;
}
