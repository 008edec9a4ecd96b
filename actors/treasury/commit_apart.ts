import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import {
  classifyDatabaseError,
  isTransient,
} from "../../ledger/database/classify_database_error.ts";
import { commitSigned, type SignedRow } from "../../ledger/treasury/commit_signed.ts";
import type { SigningTurn } from "../../ledger/treasury/signing_turn.ts";

const log = getLogger(["engine", "treasury"]);

/**
 * Commits signatures; where the database refuses the batch for what is in it, each by itself, so that
 * one that breaks a rule of the schema takes no other along. Each commit follows the one before it in
 * the same turn: what another node signs in between ends it.
 *
 * @param onRefused is told of each that the database refuses alone, with a reason for the operator
 * @returns see {@linkcode commitSigned}
 * @throws when the database is away or has reasons of its own
 */
export async function commitApart(
  sql: Sql,
  rows: readonly SignedRow[],
  turn: SigningTurn,
  onRefused: (row: SignedRow, reason: string) => void,
): Promise<ReadonlySet<string> | null> {
  try {
    return await commitSigned(sql, rows, turn);
  } catch (error) {
    if (!isToBlame(error)) throw error;
    log.error(
      "{network}: {count} signatures cannot be committed together, each is tried: {error}",
      {
        network: turn.network,
        count: rows.length,
        error,
      },
    );
  }
  const committed = new Set<string>();
  let { batches } = turn;
  for (const row of rows) {
    try {
      const ids = await commitSigned(sql, [row], { ...turn, batches });
      if (ids === null) return committed.size === 0 ? null : committed;
      // the turn counts every commit, also one that found its transfer given up
      batches++;
      for (const id of ids) committed.add(id);
    } catch (error) {
      if (!isToBlame(error)) {
        if (committed.size === 0) throw error;
        log.warn("{network}: what is left of a batch waits for the database: {error}", {
          network: turn.network,
          error,
        });
        return committed;
      }
      onRefused(row, `it cannot be committed: ${error instanceof Error ? error.message : error}`);
    }
  }
  return committed;
}

/** True where the statement itself is to blame: neither the connection nor the server has reasons of its own. */
export function isToBlame(error: unknown): boolean {
  return classifyDatabaseError(error) !== "connection" && !isTransient(error);
}
