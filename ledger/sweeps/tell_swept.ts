import type { AnySql } from "../database/connect.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";

/**
 * Tells merchants that their top-ups were carried to the hot wallet by final sweeps, and closes what
 * nobody waits for. A top-up that its merchant has not booked yet (its pair takes no deposits now)
 * stays open; saying it again later changes nothing that was said.
 *
 * @returns the merchants that have something to hear
 */
export async function tellSwept(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<readonly string[]> {
  if (outgoingIds.length === 0) return [];
  const rows = await sql<{ merchant_id: string }[]>`
    WITH item AS MATERIALIZED (
      SELECT merchant_id, network, txid, log_index, address, outgoing_id FROM book.sweep_item
      WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done
      ORDER BY network, txid, log_index, merchant_id FOR UPDATE
    ), carried AS (
      SELECT i.*, a.txid AS sweep, a.height FROM item i
      JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT}
        AND o.kind = 'sweep' AND o.status = 'final'
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved'
    ), waiting AS (
      SELECT c.* FROM carried c
      JOIN book.deposit_address w ON w.network = c.network AND w.address = c.address
        AND w.merchant_id = c.merchant_id AND w.kind = 'top_up'
    ), told AS (
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT w.merchant_id, w.network, w.txid, w.log_index, 'swept', jsonb_build_object(
        'to', w.address, 'outgoingId', w.outgoing_id, 'sweepTxid', w.sweep, 'height', w.height)
      FROM waiting w JOIN book.deposit d ON d.merchant_id = w.merchant_id AND d.network = w.network
        AND d.txid = w.txid AND d.log_index = w.log_index AND d.expires_at IS NULL
      ON CONFLICT DO NOTHING
      RETURNING merchant_id, network, txid, log_index
    ), closed AS (
      UPDATE book.sweep_item i SET done = true FROM carried c
      WHERE i.merchant_id = c.merchant_id AND i.network = c.network AND i.txid = c.txid AND i.log_index = c.log_index
        AND (NOT EXISTS (SELECT FROM waiting w WHERE w.merchant_id = c.merchant_id AND w.network = c.network
               AND w.txid = c.txid AND w.log_index = c.log_index)
          OR EXISTS (SELECT FROM told t WHERE t.merchant_id = c.merchant_id AND t.network = c.network
               AND t.txid = c.txid AND t.log_index = c.log_index)
          OR EXISTS (SELECT FROM book.inbox x WHERE x.merchant_id = c.merchant_id AND x.network = c.network
               AND x.txid = c.txid AND x.log_index = c.log_index AND x.phase = 'swept')
          -- a deposit booked by hand has claimed the whole transaction and was confirmed by its operator
          OR EXISTS (SELECT FROM book.deposit d WHERE d.merchant_id = c.merchant_id AND d.network = c.network
               AND d.txid = c.txid AND d.log_index IN (c.log_index, -1) AND d.status = 'CONFIRMED'))
    )
    SELECT DISTINCT merchant_id FROM told`;
  return rows.map((row) => row.merchant_id);
}
