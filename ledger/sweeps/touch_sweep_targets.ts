import type { AnySql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";

/** Has the planner look again at the addresses that transfers of the house came from or went to. */
export async function touchSweepTargets(
  sql: AnySql,
  network: Network,
  outgoingIds: readonly string[],
): Promise<void> {
  await sql`
    UPDATE book.sweep_target t SET touched = t.touched + 1, look_at = now()
    WHERE (t.network, t.address) IN (
      SELECT o.network, CASE WHEN o.kind = 'sweep' THEN h.address ELSE o.destination END
      FROM book.outgoing o
      LEFT JOIN hub.address h ON o.kind = 'sweep' AND h.network = o.network
        -- a join may work out its key for every row, whatever else it asks: 'hot' is no number
        AND h.wallet_index = CASE WHEN o.wallet <> 'hot' THEN o.wallet::integer END
      WHERE o.id = ANY (${[...outgoingIds]}::text[]) AND o.merchant_id = ${PLATFORM_ACCOUNT}
        AND o.network = ${network} AND o.kind IN ('sweep', 'gas', 'delegation', 'reclaim'))`;
}
