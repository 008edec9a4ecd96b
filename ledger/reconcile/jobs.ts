import type { Sql } from "../database/connect.ts";

/** Makes a job known, due at a time; one that is known keeps its own. */
export async function ensureJob(sql: Sql, name: string, dueAt: number): Promise<void> {
  await sql`
    INSERT INTO hub.job (name, due_at) VALUES (${name}, ${new Date(dueAt)}) ON CONFLICT DO NOTHING`;
}

/**
 * Takes a job that is due, for this service alone, and says when it is due again. A service that
 * dies over it leaves it to whoever is there the next time.
 *
 * @param now Unix milliseconds by the database's clock
 * @param longestMs the longest that lies between two times at which it is due: one that is due later
 *   was put off while a clock was wrong, and is due
 * @returns whether it was due, and nobody else had taken it
 */
export async function takeJob(
  sql: Sql,
  name: string,
  now: number,
  dueAgain: number,
  longestMs: number,
): Promise<boolean> {
  const rows = await sql`
    UPDATE hub.job SET due_at = ${new Date(dueAgain)}
    WHERE name = ${name} AND (due_at <= ${new Date(now)} OR due_at > ${new Date(now + longestMs)})
    RETURNING 1`;
  return rows.length > 0;
}
