import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";

/** The end of an attempt. */
export type AttemptOutcome =
  | "paid"
  | "failed"
  | "unexpected"
  | "expired"
  | "superseded"
  | "cancelled";

/** Ends by which a transaction has moved nothing: its transfer was given back, or made by another one. */
const MOVED_NOTHING: readonly AttemptOutcome[] = ["expired", "superseded", "failed", "cancelled"];

/**
 * True of an end by which a transaction has moved nothing. A block with a transfer of it belies that end: a node has lied,
 * or a proof was wrong, and what it moved may be paid twice.
 */
export function hasMovedNothing(outcome: AttemptOutcome | null): boolean {
  return outcome !== null && MOVED_NOTHING.includes(outcome);
}

/** The condition of an attempt, `a`, that it has moved nothing; null where it has no end. */
export function movedNothing(sql: AnySql): Fragment {
  return sql`a.outcome = ANY (${[...MOVED_NOTHING]}::text[])`;
}

/**
 * The condition of an attempt, `a`, whose end does not explain a row `s` of what left a wallet. A transaction that failed
 * explains that it took a nonce, which is the row below all logs, and no transfer.
 */
export function isBelied(sql: AnySql): Fragment {
  return sql`coalesce(CASE WHEN s.log_index < 0 THEN a.outcome IN ('expired', 'superseded') ELSE ${
    movedNothing(sql)
  } END, false)`;
}
