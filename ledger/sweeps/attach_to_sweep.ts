import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import type { SweepTarget } from "./due_targets.ts";
import type { OpenItem } from "./read_sweep_facts.ts";
import { tellSwept } from "./tell_swept.ts";
import { cover } from "./write_step.ts";

/** A final sweep that moved more than it lists. */
export interface SpareSweep {
  readonly outgoingId: string;
  readonly spare: Amount;
  /** Its block; nothing that came later was there to be moved. */
  readonly height: number;
}

/**
 * Final sweeps of an address that moved more than they list: what came in while they were planned,
 * or was paid before its address was watched and claimed later.
 */
export async function readSpareSweeps(
  sql: Sql,
  target: SweepTarget,
): Promise<readonly SpareSweep[]> {
  const rows = await sql<{ id: string; spare: string; height: string }[]>`
    SELECT id, trim_scale(spare)::text AS spare, height FROM (
      SELECT o.id, a.height, CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.arrived END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0) AS spare
      FROM book.outgoing o JOIN book.attempt a
        ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IN ('paid', 'unexpected')
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE o.network = ${target.network} AND o.wallet = ${
    String(target.walletIndex)
  } AND o.wallet <> 'hot'
        AND o.currency = ${target.currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final') s
    WHERE spare > 0 ORDER BY id`;
  return rows.map(({ id, spare, height }) => ({
    outgoingId: id,
    spare: amountOf(spare),
    height: Number(height),
  }));
}

/**
 * Lists transfers under a final sweep that has moved them already, and tells who waits for that.
 *
 * @returns the merchants that have something to hear; null: something happened to the address
 */
export async function attachToSweep(
  sql: Sql,
  target: SweepTarget,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<readonly string[] | null> {
  return await sql.begin(async (tx) => {
    const held = await tx`
      UPDATE book.sweep_target SET touched = touched + 1, look_at = now()
      WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
        AND touched = ${target.touched} RETURNING 1`;
    if (held.length === 0) return null;
    await cover(tx, target, outgoingId, items);
    return await tellSwept(tx, [outgoingId]);
  });
}
