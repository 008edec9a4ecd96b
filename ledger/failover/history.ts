import type { Sql } from "postgres";

/** Result of comparing the database's history with the one known before. */
export interface HistoryNote {
  /** The history that is written now, as `cluster/timeline/database`; `not told`: this role may not ask. */
  readonly history: string;
  /** True where this look opened a hold; another node may have been faster. */
  readonly opened: boolean;
  /** True where the server tells its history at all. */
  readonly isTold: boolean;
  /** The newest hold, found or declared, by whatever node; null: there was never one. */
  readonly newest: string | null;
}

/**
 * Compares the history that the server writes with the one that was found in order last; where it
 * is another one, opens a hold and jumps the address numbers, exactly once for all nodes.
 *
 * @param failoverId id of the hold, should one be opened
 * @param gap how many derivation indexes per network are jumped over
 */
export async function noteHistory(
  sql: Sql,
  failoverId: string,
  gap: number,
): Promise<HistoryNote> {
  const [row] = await sql<
    { history: string; opened: boolean; is_told: boolean; newest: string | null }[]
  >`
    SELECT history, opened, is_told, newest FROM hub.note_history(${failoverId}, ${gap})`;
  if (row === undefined) throw new Error("Cannot compare histories as the answer has no row");
  const { history, opened, is_told: isTold, newest } = row;
  return { history, opened, isTold, newest };
}
