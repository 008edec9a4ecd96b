/**
 * Compares the books with themselves and with the chains while the service runs: a bounded part every
 * few minutes, everything once a day at a quiet hour. One service does it for all of them. What
 * differs is logged record by record as an alarm, and stays in the report for operators.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { readDatabaseTime } from "../../ledger/database/database_clock.ts";
import type { CheckProgress } from "../../ledger/reconcile/check_books.ts";
import type { ReconcileScope } from "../../ledger/reconcile/difference.ts";
import { ensureJob, newestReports, storeReport, takeJob } from "../../ledger/reconcile/reports.ts";
import { compareAll, type CompareDeps } from "./compare_all.ts";
import { logReport, type Report, type ReportBody } from "./report.ts";

const POLL_MS = 10_000;
/** Interval at which the log says how far a comparison is. */
const PROGRESS_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Times at which the books are compared. */
export interface ReconcilePlan {
  /** Between two bounded comparisons, milliseconds. */
  readonly everyMs: number;
  /** Hour of the day (UTC) at which everything is compared. */
  readonly fullHour: number;
  /** Between two looks whether one is due, milliseconds; default 10,000. */
  readonly pollMs?: number;
}

/** Compares the books while the service runs. */
export class Reconciler {
  readonly #deps: CompareDeps;
  readonly #plan: ReconcilePlan;
  #ticker: ReturnType<typeof setInterval> | null = null;
  /** Scopes that are being compared: a full comparison takes long, and the quick ones go on beside it. */
  readonly #running = new Set<ReconcileScope>();
  #newest: readonly Report[] = [];
  #stopped = false;
  /** Milliseconds of the monotonic clock; `null` before the start. */
  #startedAt: number | null = null;

  constructor(deps: CompareDeps, plan: ReconcilePlan) {
    this.#deps = deps;
    this.#plan = plan;
  }

  /** The newest report of each scope, whichever service made it, as of the last poll. */
  get newest(): readonly Report[] {
    return this.#newest;
  }

  /** Time since due comparisons were first looked for, milliseconds. */
  get lookingMs(): number {
    return this.#startedAt === null ? 0 : performance.now() - this.#startedAt;
  }

  /** Time after the last one from which a bounded comparison is overdue, milliseconds. */
  get overdueMs(): number {
    return 3 * this.#plan.everyMs + DAY_MS / 24;
  }

  /** Looks from now on whether comparisons are due. */
  async start(): Promise<void> {
    const { sql } = this.#deps;
    const now = await readDatabaseTime(sql);
    await ensureJob(sql, jobOf("quick"), now + this.#plan.everyMs);
    await ensureJob(sql, jobOf("full"), nextHour(now, this.#plan.fullHour));
    this.#newest = await newestReports<ReportBody>(sql);
    this.#startedAt = performance.now();
    this.#ticker = setInterval(() => this.#poll(), this.#plan.pollMs ?? POLL_MS);
  }

  /** Stops; a comparison under way is left, it has changed nothing. */
  stop(): void {
    this.#stopped = true;
    if (this.#ticker !== null) clearInterval(this.#ticker);
  }

  /** Compares now, whatever is due, and keeps the report. */
  async run(scope: ReconcileScope): Promise<Report> {
    const { sql } = this.#deps;
    let toldAt = performance.now();
    const onProgress = ({ rule, done, parts }: CheckProgress) => {
      if (performance.now() - toldAt < PROGRESS_MS) return;
      toldAt = performance.now();
      logEvent("reconcile.under_way", { scope, rule, part: done + 1, parts });
    };
    const report = await compareAll({ ...this.#deps, onProgress }, { scope, sparesNodes: true });
    await storeReport(sql, report);
    this.#newest = await newestReports<ReportBody>(sql);
    logReport(report);
    return report;
  }

  #poll(): void {
    for (const scope of ["quick", "full"] as const) {
      if (this.#running.has(scope)) continue;
      this.#running.add(scope);
      this.#runDue(scope).catch((error: unknown) => {
        if (!this.#stopped) logEvent("reconcile.failed", { error });
      }).finally(() => this.#running.delete(scope));
    }
  }

  async #runDue(scope: ReconcileScope): Promise<void> {
    const { sql } = this.#deps;
    const { everyMs, fullHour } = this.#plan;
    const now = await readDatabaseTime(sql);
    const [again, longestMs] = scope === "full"
      ? [nextHour(now, fullHour), DAY_MS]
      : [now + everyMs, everyMs];
    if (await takeJob(sql, jobOf(scope), now, again, longestMs)) await this.run(scope);
    else if (scope === "quick") this.#newest = await newestReports<ReportBody>(sql);
  }
}

/** The next begin of an hour of the day (UTC). */
export function nextHour(now: number, hour: number): number {
  const today = now - now % DAY_MS + hour * HOUR_MS;
  return today > now ? today : today + DAY_MS;
}

function jobOf(scope: ReconcileScope): string {
  return `reconcile-${scope}`;
}
