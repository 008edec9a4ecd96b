import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";

/**
 * Says of all queued transfers of a currency what they are held by, which the operator sees. They are
 * not tried meanwhile, so that nothing else would say it.
 */
export async function noteHeld(
  sql: Sql,
  network: Network,
  currency: Currency,
  reason: string,
): Promise<void> {
  await sql`
    WITH locked AS (
      SELECT o.id FROM book.outgoing o
      WHERE o.network = ${network} AND o.currency = ${currency} AND o.status = 'queued'
        AND o.reason IS DISTINCT FROM ${reason}
      -- what another session holds is noted when this is said again
      ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE book.outgoing o SET reason = ${reason}, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'`;
}
