import type { Sql } from "../database/connect.ts";

/**
 * Which tokens open a hosted page, many in one statement.
 *
 * @param tokenHashes SHA-256 of the tokens, hex
 * @returns the hashes for which there is a page, each by itself
 */
export async function findSessions(
  sql: Sql,
  tokenHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ readonly hash: string }[]>`
    SELECT t.hash FROM unnest(${[...tokenHashes]}::text[]) t(hash)
      JOIN hub.session s ON s.token_hash = decode(t.hash, 'hex')`;
  return new Map(rows.map(({ hash }) => [hash, hash]));
}
