import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Why nothing may be signed for a network now, for people; null: it may. */
export async function readSigningStop(sql: Sql, network: Network): Promise<string | null> {
  const [row] = await sql<{ reason: string | null }[]>`
    SELECT hub.signing_stop(${network}) AS reason`;
  return row?.reason ?? null;
}

/** Those of some networks for which nothing may be signed now. */
export async function readStoppedNetworks(
  sql: Sql,
  networks: readonly Network[],
): Promise<readonly Network[]> {
  const rows = await sql<{ network: Network }[]>`
    SELECT n.network FROM unnest(${[...networks]}::text[]) AS n(network)
    WHERE hub.signing_stop(n.network) IS NOT NULL`;
  return rows.map(({ network }) => network);
}
