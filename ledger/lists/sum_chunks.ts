import type { Sql } from "../database/connect.ts";

/** Rows that a chunk has when it is whole; see book.list_chunk. */
const CHUNK_ROWS = 64_000;
/** Merchants summed at once. */
const AT_A_TIME = 100;

/**
 * Sums the whole chunks of lists that are not summed yet. Every merchant is a transaction of its own
 * under the lock of its account.
 *
 * @returns how many merchants had some
 */
export async function sumChunks(sql: Sql): Promise<number> {
  const due = await sql<{ merchant_id: string }[]>`
    SELECT a.merchant_id FROM book.account a
    WHERE greatest(a.deposit_seq, a.withdrawal_seq, a.transaction_seq, a.settlement_seq, a.charge_seq)
        >= ${CHUNK_ROWS}
      AND EXISTS (
        SELECT FROM (VALUES ('deposit', a.deposit_seq), ('withdrawal', a.withdrawal_seq),
          ('transaction', a.transaction_seq), ('settlement', a.settlement_seq),
          ('charge', a.charge_seq)) l(list, last)
        LEFT JOIN book.list_summed s ON s.merchant_id = a.merchant_id AND s.list = l.list
        WHERE l.last / ${CHUNK_ROWS} > coalesce(s.chunks, 0))
    LIMIT ${AT_A_TIME}`;
  for (const { merchant_id } of due) await sql`SELECT book.sum_chunks(${merchant_id})`;
  return due.length;
}
