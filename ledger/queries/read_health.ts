import type { Sql } from "../database/connect.ts";

/** What operators are warned of. */
export interface Health {
  /** Events whose time came and that nobody tried to deliver. */
  readonly untriedEvents: number;
  /** Inbox rows that were set aside and wait for somebody, by a bug or by an unexpected outcome. */
  readonly asideRows: number;
}

/** Reads what operators are warned of. */
export async function readHealth(sql: Sql, untriedSeconds: number): Promise<Health> {
  const [row] = await sql<{ untried: string; aside: string }[]>`
    SELECT
      (SELECT count(*) FROM (SELECT 1 FROM book.outbox WHERE status = 'PENDING' AND attempts = 0
        AND created_at < now() - make_interval(secs => ${untriedSeconds}) LIMIT 1000) o) AS untried,
      (SELECT count(*) FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NOT NULL
        AND quarantine NOT LIKE 'unclaimed:%' AND quarantine NOT LIKE 'claimed:%') AS aside`;
  return { untriedEvents: Number(row?.untried ?? 0), asideRows: Number(row?.aside ?? 0) };
}
