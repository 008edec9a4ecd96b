import type { Sql } from "../../../ledger/database/connect.ts";

/**
 * Rows that each account of the house is split over in the baselines: with one row for all, every
 * merchant would queue at the commission's row, and they would be no faster spread than hot.
 */
export const HOUSE_SHARDS = 32;

/** Adds the shards up, so that the books can be checked like any others. */
export async function joinHouseShards(sql: Sql): Promise<void> {
  await sql`
    WITH shards AS (
      DELETE FROM book.system_balance WHERE account LIKE '%/%' RETURNING *
    )
    INSERT INTO book.system_balance AS b (account, currency, network, balance)
    SELECT split_part(account, '/', 1), currency, network, sum(balance) FROM shards GROUP BY 1, 2, 3
    ON CONFLICT (account, currency, network) DO UPDATE SET balance = b.balance + excluded.balance`;
}
