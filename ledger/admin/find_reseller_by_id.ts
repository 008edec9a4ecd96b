import type { Sql } from "../database/connect.ts";
import { type ResellerRecord, resellerRecord } from "./reseller_record.ts";

/** One reseller; `null` where there is none of that id. */
export async function findResellerById(
  sql: Sql,
  resellerId: string,
): Promise<ResellerRecord | null> {
  const [row] = await sql`SELECT * FROM hub.reseller WHERE id = ${resellerId}`;
  return row === undefined ? null : resellerRecord(row);
}
