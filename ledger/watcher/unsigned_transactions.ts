import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Those of some transactions that these books have never signed, whatever became of the others. */
export async function findUnsigned(
  sql: Sql,
  network: Network,
  txids: readonly string[],
): Promise<readonly string[]> {
  if (txids.length === 0) return [];
  const rows = await sql<{ txid: string }[]>`
    SELECT t.txid FROM unnest(${[...txids]}::text[]) AS t(txid)
    WHERE NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = t.txid AND a.network = ${network})`;
  return rows.map(({ txid }) => txid);
}
