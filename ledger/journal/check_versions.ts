import type { Sql } from "postgres";
import type { SliceRow } from "../rows.ts";
import type { SliceMiss } from "./batch.ts";

/**
 * Whether answers that change nothing were decided on current state: a refusal from a stale
 * version would be wrong as well.
 *
 * @returns the merchants whose account (or whose settings) changed meanwhile
 */
export async function checkVersions(
  sql: Sql,
  epoch: string,
  slices: readonly Pick<SliceRow, "merchantId" | "version" | "lastCommit">[],
): Promise<readonly SliceMiss[]> {
  const rows = await sql<{ merchant_id: string; reason: "version" | "epoch" }[]>`
    SELECT s.merchant_id, CASE WHEN (a.version, a.last_commit) IS DISTINCT FROM (s.version, s.last_commit)
      THEN 'version' ELSE 'epoch' END AS reason
    FROM unnest(${slices.map((slice) => slice.merchantId)}::text[],
                ${slices.map((slice) => slice.version)}::bigint[],
                ${
    slices.map((slice) => slice.lastCommit)
  }::uuid[]) AS s(merchant_id, version, last_commit)
    LEFT JOIN book.account a ON a.merchant_id = s.merchant_id
    WHERE (a.version, a.last_commit) IS DISTINCT FROM (s.version, s.last_commit)
      OR (SELECT epoch FROM book.setting) <> ${epoch}::uuid`;
  return rows.map((row) => ({ merchantId: row.merchant_id, reason: row.reason }));
}
