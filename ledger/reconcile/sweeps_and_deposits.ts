import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/**
 * Sweeps and what they carry tell the same story: what counts as carried was moved by a sweep that is
 * final and paid (or of which an operator found that money has arrived), no sweep lists more than it
 * moved, what was written off is the transfers that say so, and no top-up is available without a sweep
 * that lists it.
 */
export const sweepsAndDeposits: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH moved AS (
      SELECT o.id FROM book.outgoing o
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE o.kind = 'sweep' AND o.status = 'final'
        AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved')
    )
    SELECT format('%s/%s to %s', i.txid, i.log_index, i.address) AS subject,
      format('counts as carried by %s, which is not final and paid', i.outgoing_id) AS detail
    FROM book.sweep_item i
    WHERE i.done AND i.write_off IS NULL AND NOT EXISTS (SELECT 1 FROM moved m WHERE m.id = i.outgoing_id)
    UNION ALL
    SELECT o.id, format('moves %s and lists %s', trim_scale(coalesce(v.arrived, o.amount)), trim_scale(sum(i.amount)))
    FROM book.outgoing o JOIN book.sweep_item i ON i.outgoing_id = o.id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    GROUP BY o.id, o.merchant_id, o.amount, v.arrived HAVING sum(i.amount) > coalesce(v.arrived, o.amount)
    UNION ALL
    SELECT format('%s of %s', coalesce(w.id, i.id), coalesce(w.address, i.address)),
      format('writes %s off, its transfers come to %s', trim_scale(coalesce(w.amount, 0)), trim_scale(coalesce(i.amount, 0)))
    FROM book.sweep_write_off w FULL JOIN (
      SELECT write_off AS id, network, address, currency, sum(amount) AS amount FROM book.sweep_item
      WHERE write_off IS NOT NULL GROUP BY 1, 2, 3, 4) i USING (id, network, address, currency)
    WHERE w.amount IS DISTINCT FROM i.amount
    UNION ALL
    SELECT format('%s of %s', d.id, d.merchant_id), 'a top-up is available without a final sweep that lists it'
    FROM book.deposit d
    JOIN book.deposit_address w ON w.id = d.address_id AND w.merchant_id = d.merchant_id AND w.kind = 'top_up'
    WHERE d.status = 'CONFIRMED' AND d.txid IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM book.sweep_item i JOIN moved m ON m.id = i.outgoing_id
      WHERE i.merchant_id = d.merchant_id AND i.network = d.network AND i.txid = d.txid AND i.log_index = d.log_index)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
