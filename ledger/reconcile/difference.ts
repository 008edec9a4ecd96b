import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";
import type { Slice, SlicedBy } from "./slices.ts";

/** Two places that should say the same and do not. */
export interface Difference {
  /** Subject, for example `mer_... USDT/TRX available`. */
  readonly subject: string;
  /** Both sides, in words. */
  readonly detail: string;
}

/** Scope of a comparison: what costs the same however many payments there are, or everything. */
export type ReconcileScope = "quick" | "full";

/** A rule of the books. */
export interface BookCheck {
  /** The rule, as a sentence. */
  readonly rule: string;
  readonly scopes: readonly ReconcileScope[];
  /**
   * Keys that its parts are ranges of, where each can be compared without the others; absent: one
   * statement compares it, which keeps sums alone in memory.
   */
  readonly by?: SlicedBy;
  /** Query of its differences, `subject` and `detail`, in a part. */
  readonly query: (sql: AnySql, slice: Slice) => Fragment;
}
