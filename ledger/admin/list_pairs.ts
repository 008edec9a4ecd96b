import type { Sql } from "../database/connect.ts";
import { type PairRecord, pairRecord } from "./pair_record.ts";

/** A pair with the transfers that were set aside because it was disabled. */
export interface ListedPair extends PairRecord {
  readonly unclaimed: number;
}

/** Every pair, main networks first. */
export async function listPairs(sql: Sql): Promise<readonly ListedPair[]> {
  const rows = await sql`
    SELECT p.*, coalesce(i.unclaimed, 0)::int AS unclaimed FROM book.pair p
    LEFT JOIN (
      SELECT network, data ->> 'currency' AS currency, count(DISTINCT (txid, log_index)) AS unclaimed
      FROM book.inbox WHERE consumed_at IS NULL AND quarantine LIKE 'unclaimed:%' GROUP BY 1, 2) i
      ON i.network = p.network AND i.currency = p.currency
    ORDER BY p.currency DESC, array_position(
      ARRAY['TRX','ETH','BNB','SOL','TRX_SHASTA','SEP','tBNB','SOL_DEVNET'], p.network::text)`;
  return rows.map((row) => ({ ...pairRecord(row), unclaimed: row.unclaimed }));
}
