/**
 * Work on rows that no actor owns: sums are carried forward, kept times bounded, old rows deleted.
 *
 * @module
 */

import type { Sql } from "postgres";
import { pruneCommitLog } from "../ledger/journal/write_batch.ts";
import { foldSystemBalances } from "../ledger/journal/fold_system_balances.ts";
import { sumLargeBuckets } from "../ledger/lists/list_query.ts";
import { foldEventCounts } from "../ledger/outbox/deliveries.ts";
import { boundKeptTimes, pruneEvents, pruneInbox } from "../ledger/retention.ts";
import type { Periodic } from "./runtime/periodic.ts";

/** Pause between two rounds of adding up, milliseconds. */
const FOLD_MS = 5_000;
/** Pause between two checks of kept times for those that a wrong clock has put off. */
const BOUND_MS = 60_000;
/** Pause between two cuts of the log of commits, and the part of it that is kept. */
const PRUNE_MS = 10 * 60_000;
const KEEP_COMMITS_MS = 3_600_000;
/** Deletions of old rows in a row, by some thousand. */
const PRUNE_TURNS = 100;
const DAY_MS = 86_400_000;

/** Days that consumed inbox rows and ended events are kept, 0 for ever. */
export interface KeepDays {
  readonly inbox: number;
  readonly events: number;
}

export class Upkeep {
  readonly #sql: Sql;
  readonly #keepDays: KeepDays;
  #boundedTimes = 0;

  /** @param keepDays without it everything is kept */
  constructor(sql: Sql, keepDays: KeepDays = { inbox: 0, events: 0 }) {
    this.#sql = sql;
    this.#keepDays = keepDays;
  }

  /** Kept times that a wrong clock had put off. */
  get boundedTimes(): number {
    return this.#boundedTimes;
  }

  start(tasks: Periodic): void {
    const sql = this.#sql;
    tasks.every("count events", FOLD_MS, async () => {
      await foldEventCounts(sql);
    });
    tasks.every("add up system balances", FOLD_MS, async () => {
      await foldSystemBalances(sql);
    });
    tasks.every("bound kept times", BOUND_MS, async () => {
      this.#boundedTimes += await boundKeptTimes(sql);
    }, true);
    tasks.every("sum lists", PRUNE_MS, async () => {
      while (await sumLargeBuckets(sql) > 0);
    });
    tasks.every("prune commits", PRUNE_MS, () => pruneCommitLog(sql, KEEP_COMMITS_MS));
    tasks.every("prune rows", PRUNE_MS, () => this.#prune());
  }

  /** Deletes what is kept long enough, a bounded part at a time. */
  async #prune(): Promise<void> {
    const { inbox, events } = this.#keepDays;
    for (let turn = 0; turn < PRUNE_TURNS; turn++) {
      const ended = events > 0 ? await pruneEvents(this.#sql, events * DAY_MS) : 0;
      const consumed = inbox > 0 ? await pruneInbox(this.#sql, inbox * DAY_MS) : 0;
      if (ended + consumed === 0) return;
    }
  }
}
