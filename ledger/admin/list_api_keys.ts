import type { Sql } from "../database/connect.ts";
import { type KeyRecord, keyRecord } from "./key_record.ts";

/** Keys shown at most. */
const MOST = 1_000;

/**
 * The keys of a merchant that are not revoked, newest first.
 *
 * @param merchantId null: the administrators' keys
 */
export async function listApiKeys(
  sql: Sql,
  merchantId: string | null,
): Promise<readonly KeyRecord[]> {
  const rows = await sql`
    SELECT * FROM hub.api_key
    WHERE merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL
    ORDER BY id DESC LIMIT ${MOST}`;
  return rows.map(keyRecord);
}
