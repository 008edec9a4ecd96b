import type { Sql } from "postgres";

/** Forgets commits whose outcome nobody can be asking for any more. */
export async function pruneCommitLog(sql: Sql, keepMs: number): Promise<void> {
  await sql`DELETE FROM book.commit_log WHERE created_at < now() - make_interval(secs => ${
    keepMs / 1_000
  })`;
}
