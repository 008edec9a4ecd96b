import type { Sql } from "../database/connect.ts";
import { type KeyRecord, keyRecord } from "./key_record.ts";

/**
 * One key of a merchant that is not revoked.
 *
 * @param merchantId null: one of the administrators' keys
 */
export async function findApiKey(
  sql: Sql,
  merchantId: string | null,
  keyId: string,
): Promise<KeyRecord | null> {
  const [row] = await sql`
    SELECT * FROM hub.api_key
    WHERE id = ${keyId} AND merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL`;
  return row === undefined ? null : keyRecord(row);
}
