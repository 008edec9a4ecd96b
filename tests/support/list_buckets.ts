import type { Sql } from "../../ledger/database/connect.ts";

/**
 * Adds up all full buckets of a merchant's lists, as the journal does when it fills one. For rows that
 * a test or a bench has inserted itself; the account's counters are set before.
 */
export async function sumBuckets(sql: Sql, merchantId: string): Promise<void> {
  await sql`DELETE FROM book.list_bucket WHERE merchant_id = ${merchantId}`;
  await sql`
    INSERT INTO book.list_bucket
    SELECT b.* FROM book.account a
    CROSS JOIN LATERAL (VALUES ('withdrawal', a.withdrawal_seq), ('deposit', a.deposit_seq),
      ('settlement', a.settlement_seq), ('transaction', a.transaction_seq), ('charge', a.charge_seq)) l(list, last)
    CROSS JOIN LATERAL book.count_rows(l.list, a.merchant_id, 0, l.last / 250) b
    WHERE a.merchant_id = ${merchantId}`;
}
