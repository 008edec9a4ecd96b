import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Reasons that stop payouts of one network while it is not known what was signed before. */
export interface FailoverTrouble {
  readonly network: Network;
  /** Transfers out of wallets of ours that nobody has decided on. */
  readonly openSpends: number;
  /** True while something that was signed in a lost history may still come. */
  readonly isHeld: boolean;
}

/** The networks whose payouts are held, with why. Few rows, by partial indexes. */
export async function readFailoverTroubles(sql: Sql): Promise<readonly FailoverTrouble[]> {
  const rows = await sql<{ network: Network; open_spends: number; is_held: boolean }[]>`
    SELECT network, sum(spends)::int AS open_spends, bool_or(held) AS is_held FROM (
      SELECT network, count(*) AS spends, false AS held FROM hub.unknown_spend WHERE status = 'open' GROUP BY 1
      UNION ALL
      SELECT network, 0, true FROM hub.failover_network WHERE compared_at IS NULL) t
    GROUP BY network ORDER BY network`;
  return rows.map((row) => ({
    network: row.network,
    openSpends: row.open_spends,
    isHeld: row.is_held,
  }));
}
