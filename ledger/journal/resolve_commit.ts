import type { Sql } from "postgres";

/**
 * Finds out what became of a batch whose answer was lost with its connection. Fences the batch
 * first (raises the versions it was decided on, waiting for a write under way), so that the answer
 * is final; every touched actor must be read again afterwards.
 *
 * @returns the merchants whose slices were committed, or `null` when the batch never happened
 */
export async function resolveCommit(
  sql: Sql,
  commitId: string,
  merchantIds: readonly string[],
): Promise<ReadonlySet<string> | null> {
  const rows = await sql<{ survivors: string[] | null }[]>`
    SELECT book.resolve_commit(${commitId}::text, ${[...merchantIds]}::text[]) AS survivors`;
  const survivors = rows[0]?.survivors ?? null;
  return survivors === null ? null : new Set(survivors);
}
