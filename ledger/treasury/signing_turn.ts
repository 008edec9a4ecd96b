import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/**
 * A node's turn to sign for a network. The node and the time in the row are a hint that keeps two
 * nodes from working in vain. The number of batches is the safety: a batch is made from what the
 * wallet had promised at the turn's beginning, and is committed only while nothing was signed since.
 */
export interface SigningTurn {
  readonly network: Network;
  /** Batches that were committed before it. */
  readonly batches: bigint;
}

/** Gives a turn up in which nothing was signed: another node may have what this one lacks. */
export async function passTurn(sql: Sql, network: Network, node: string): Promise<void> {
  await sql`
    UPDATE book.signing_turn SET until = now()
    WHERE network = ${network} AND node = ${node} AND until > now()`;
}
