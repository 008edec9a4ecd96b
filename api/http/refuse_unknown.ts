import type { Sql } from "../../ledger/database/connect.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import type { Answer } from "./answer.ts";
import { notFound } from "./errors.ts";
import type { Caller } from "./permission.ts";

/**
 * The 404 for a merchant that an administrator names and that does not exist; otherwise null. A
 * merchant's own key cannot name another.
 */
export async function refuseUnknown(
  sql: Sql,
  caller: Caller,
  merchantId: string,
): Promise<Answer | null> {
  if (caller.merchantId === merchantId) return null;
  return await readMerchant(sql, merchantId) === null ? notFound : null;
}
