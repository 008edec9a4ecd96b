import type { AnySql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";

/**
 * Has the planner look again at the addresses that transfers of the house came from or went to. Rows
 * are locked in the order of their keys: two of these at once wait for each other, and no more.
 */
export async function touchSweepTargets(
  sql: AnySql,
  network: Network,
  outgoingIds: readonly string[],
): Promise<void> {
  await sql`
    WITH ended AS MATERIALIZED (
      SELECT kind, wallet, destination FROM book.outgoing
      WHERE id = ANY (${[
    ...outgoingIds,
  ]}::text[]) AND merchant_id = ${PLATFORM_ACCOUNT} AND network = ${network}
    ), place AS MATERIALIZED (
      SELECT h.address FROM (SELECT wallet::integer AS index FROM ended WHERE kind = 'sweep' OFFSET 0) s
      JOIN hub.address h ON h.network = ${network} AND h.wallet_index = s.index
      UNION SELECT destination FROM ended WHERE kind IN ('gas', 'delegation', 'reclaim')
    ), held AS MATERIALIZED (
      SELECT t.address, t.currency FROM place p
      JOIN book.sweep_target t ON t.network = ${network} AND t.address = p.address
      ORDER BY t.address, t.currency FOR UPDATE OF t
    )
    UPDATE book.sweep_target t SET touched = t.touched + 1, look_at = now() FROM held h
    WHERE t.network = ${network} AND t.address = h.address AND t.currency = h.currency`;
}
