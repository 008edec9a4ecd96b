import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/**
 * Has the planner look at addresses that were paid while another transaction held their rows. Those
 * whose rows are held still stay on the list.
 *
 * An entry is written with its transfers, and its row is held here: whoever reads the address after
 * this sees them, and what was planned before no longer holds.
 */
export async function noteLateTargets(sql: Sql, network: Network): Promise<void> {
  await sql`
    WITH late AS MATERIALIZED (
      SELECT address, currency, merchant_id FROM book.late_sweep_target WHERE network = ${network}
      ORDER BY address, currency FOR UPDATE SKIP LOCKED
    ), place AS MATERIALIZED (
      SELECT l.*, f.is_free IS NOT NULL AS is_free, EXISTS (SELECT FROM book.sweep_target t
        WHERE t.network = ${network} AND t.address = l.address AND t.currency = l.currency) AS is_known
      FROM late l LEFT JOIN LATERAL (
        SELECT true AS is_free FROM book.sweep_target t
        WHERE t.network = ${network} AND t.address = l.address AND t.currency = l.currency
        FOR NO KEY UPDATE SKIP LOCKED) f ON true
    ), touched AS (
      UPDATE book.sweep_target t SET touched = t.touched + 1, look_at = now() FROM place p
      WHERE p.is_free AND t.network = ${network} AND t.address = p.address AND t.currency = p.currency
    ), noted AS (
      INSERT INTO book.sweep_target AS t (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE NOT is_known ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()
    )
    DELETE FROM book.late_sweep_target d USING place p
    WHERE (p.is_free OR NOT p.is_known) AND d.network = ${network} AND d.address = p.address
      AND d.currency = p.currency`;
}
