import type { Sql } from "postgres";

/** The fate of a batch whose answer was lost, as far as it is certain. */
export interface Resolution {
  /** The merchants whose part was committed; `null`: the batch has not happened. */
  readonly survivors: ReadonlySet<string> | null;
  /** Merchants for whom it still may happen: their accounts are locked just now. */
  readonly waiting: ReadonlySet<string>;
}

/**
 * Finds out what became of a batch whose answer was lost with its connection. Fences the batch
 * first (changes what it was decided on), so that the answer is final; waits for no lock. Every
 * touched actor must be read again afterwards.
 */
export async function resolveCommit(
  sql: Sql,
  commitId: string,
  merchantIds: readonly string[],
): Promise<Resolution> {
  const [row] = await sql<{ survivors: string[] | null; waiting: string[] }[]>`
    SELECT * FROM book.resolve_commit(${commitId}::text, ${[...merchantIds]}::text[])`;
  if (row === undefined) throw new Error("Cannot resolve a commit as nothing was answered");
  // a batch that happened did so as a whole, whatever is locked now
  if (row.survivors !== null) return { survivors: new Set(row.survivors), waiting: new Set() };
  return { survivors: null, waiting: new Set(row.waiting) };
}

/** Deletes commits so old that no lost answer is still asked about. */
export async function pruneCommitLog(sql: Sql, keepMs: number): Promise<void> {
  await sql`DELETE FROM book.commit_log WHERE created_at < now() - make_interval(secs => ${
    keepMs / 1_000
  })`;
}
