import type { Registry } from "prom-client";
import type { Reconciler } from "../../actors/reconcile/reconciler.ts";
import { registerFigures } from "./figures.ts";

/** Registers what the newest comparisons of the books found. */
export function registerReconcileMetrics(
  registry: Registry,
  reconciler: Pick<Reconciler, "newest">,
): void {
  const byScope = () => reconciler.newest.map((one) => [one.scope, one] as const);
  registerFigures(registry, byScope, {
    engine_reconcile_differences: (one) => one.differences,
    engine_reconcile_unchecked: (one) => one.unchecked,
    engine_reconcile_finished_timestamp_seconds: (one) => one.finishedAt / 1_000,
    engine_reconcile_duration_seconds: (one) => (one.finishedAt - one.startedAt) / 1_000,
  });
}

/** A day for the next full comparison and one for its length. */
const FULL_OVERDUE_MS = 48 * 3_600_000;

/** Troubles with the books, as far as the newest comparisons say. */
export function reconcileReasons(
  reconciler: Pick<Reconciler, "newest" | "overdueMs" | "lookingMs">,
  now: number,
): string[] {
  const whole = reconciler.newest.find(({ scope, unchecked }) =>
    scope === "full" && unchecked === 0
  );
  // a full comparison, by hand too, looks at all that the bounded one before it has found
  const standing = reconciler.newest.filter((report) =>
    report.scope === "full" || whole === undefined || report.startedAt > whole.startedAt
  );
  const reasons = standing.filter(({ differences }) => differences > 0).map((report) =>
    `the ${report.scope} comparison of the books of ${
      new Date(report.finishedAt).toISOString()
    } found ${report.differences} differences`
  );
  // of a quick one that is no reason: a silent node is one by itself, and there is another one soon
  const full = reconciler.newest.find(({ scope }) => scope === "full");
  if (full !== undefined && full.unchecked > 0) {
    const at = new Date(full.finishedAt).toISOString();
    reasons.push(`the full comparison of the books of ${at} left ${full.unchecked} rules out`);
  }
  if (full !== undefined && now - full.finishedAt > FULL_OVERDUE_MS) {
    const at = new Date(full.finishedAt).toISOString();
    reasons.push(`the books were last compared in full at ${at}`);
  }
  const latest = Math.max(0, ...reconciler.newest.map(({ finishedAt }) => finishedAt));
  if (latest > 0 && now - latest > reconciler.overdueMs) {
    reasons.push(`the books were last compared at ${new Date(latest).toISOString()}`);
  }
  if (latest === 0 && reconciler.lookingMs > reconciler.overdueMs) {
    reasons.push("the books were not compared since the start");
  }
  return reasons;
}
