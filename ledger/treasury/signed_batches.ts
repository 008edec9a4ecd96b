import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/**
 * The number of batches that were ever signed or promised nonces for a network. It only grows: fewer than before are those of an
 * older copy of the database.
 */
export async function readSignedBatches(sql: Sql, network: Network): Promise<bigint> {
  const [row] = await sql<{ batches: string }[]>`
    SELECT batches FROM book.signing_turn WHERE network = ${network}`;
  return BigInt(row?.batches ?? 0);
}
