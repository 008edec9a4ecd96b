import type { AnySql } from "../database/connect.ts";

/** Two places that should say the same and do not. */
export interface Difference {
  /** Subject, for example `mer_... USDT/TRX available`. */
  readonly subject: string;
  /** Both sides, in words. */
  readonly detail: string;
}

/** Compares two places of the books; empty: they agree. */
export type BookCheck = (sql: AnySql) => Promise<readonly Difference[]>;

/** Differences told per check; more of them say nothing new. */
export const MOST_DIFFERENCES = 100;
