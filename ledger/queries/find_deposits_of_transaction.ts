import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type DepositRow, depositTable } from "../rows.ts";

/** A merchant's deposits that came in by one transaction, or claim it, in the order of its logs. */
export async function findDepositsOfTransaction(
  sql: Sql,
  merchantId: string,
  network: Network,
  txid: string,
): Promise<readonly DepositRow[]> {
  const rows = await sql`
    SELECT d.* FROM book.deposit d
    WHERE d.merchant_id = ${merchantId} AND d.network = ${network} AND d.txid = ${txid}
    ORDER BY d.log_index`;
  return rows.map((row) => depositTable.decode(row));
}
