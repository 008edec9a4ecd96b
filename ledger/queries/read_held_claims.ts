import type { Sql } from "../database/connect.ts";

/**
 * Counts the transfers that have waited long for a deposit by hand that claims their transaction and was not
 * decided: they are the merchant's money, which nobody is asked about otherwise.
 *
 * @param minutes how long is long
 */
export async function readHeldClaims(sql: Sql, minutes: number): Promise<number> {
  const [row] = await sql<{ held: number }[]>`
    SELECT count(*)::int AS held FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine LIKE 'claimed:%'
      AND created_at < now() - make_interval(mins => ${minutes})`;
  return row?.held ?? 0;
}
