import type { Sql } from "../database/connect.ts";

/** Notes that keys were just used. */
export async function markKeysUsed(sql: Sql, keyIds: readonly string[]): Promise<void> {
  await sql`UPDATE hub.api_key SET last_used_at = now() WHERE id = ANY (${[...keyIds]}::text[])`;
}
