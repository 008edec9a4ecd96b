import type { Sql } from "postgres";
import type { SliceMiss } from "./batch.ts";

/**
 * Whether answers that change nothing were decided on current state: a refusal from a stale
 * version would be wrong as well.
 *
 * @returns the merchants whose version (or whose settings) moved meanwhile
 */
export async function checkVersions(
  sql: Sql,
  epoch: number,
  slices: readonly { readonly merchantId: string; readonly version: number }[],
): Promise<readonly SliceMiss[]> {
  const rows = await sql<{ merchant_id: string; reason: "version" | "epoch" }[]>`
    SELECT s.merchant_id, CASE WHEN a.version IS DISTINCT FROM s.version THEN 'version' ELSE 'epoch' END AS reason
    FROM unnest(${slices.map((slice) => slice.merchantId)}::text[],
                ${slices.map((slice) => slice.version)}::bigint[]) AS s(merchant_id, version)
    LEFT JOIN book.account a ON a.merchant_id = s.merchant_id
    WHERE a.version IS DISTINCT FROM s.version OR (SELECT epoch FROM book.setting) <> ${epoch}::bigint`;
  return rows.map((row) => ({ merchantId: row.merchant_id, reason: row.reason }));
}
