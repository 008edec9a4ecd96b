import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Derivation indexes that were jumped over and are not watched yet. */
export interface UnwatchedGap {
  readonly failoverId: string;
  readonly network: Network;
  readonly first: number;
  readonly last: number;
}

/** Gaps whose addresses are not watched yet. */
export async function readUnwatchedGaps(sql: Sql): Promise<readonly UnwatchedGap[]> {
  const rows = await sql<
    { failover_id: string; network: Network; gap_first: number; gap_last: number }[]
  >`
    SELECT failover_id, network, gap_first, gap_last FROM hub.failover_network
    WHERE NOT gap_watched ORDER BY failover_id, network`;
  return rows.map((row) => ({
    failoverId: row.failover_id,
    network: row.network,
    first: row.gap_first,
    last: row.gap_last,
  }));
}

/** Notes that the addresses of a gap are watched. */
export async function noteGapWatched(
  sql: Sql,
  { failoverId, network }: Pick<UnwatchedGap, "failoverId" | "network">,
): Promise<void> {
  await sql`
    UPDATE hub.failover_network SET gap_watched = true
    WHERE failover_id = ${failoverId} AND network = ${network}`;
}

/** Makes sure that a derivation index, and none below it, is ever taken again. */
export async function skipIndexesTo(sql: Sql, network: Network, index: number): Promise<void> {
  await sql`
    UPDATE hub.wallet SET next_index = ${
    index + 1
  } WHERE network = ${network} AND next_index <= ${index}`;
}
