import { Gauge, type Registry } from "prom-client";
import type { Report } from "../../actors/reconcile/report.ts";
import type { Reconciler } from "../../actors/reconcile/reconciler.ts";

/** Registers what the newest comparisons of the books found. */
export function registerReconcileMetrics(
  registry: Registry,
  reconciler: Pick<Reconciler, "newest">,
): void {
  const perScope = (name: string, help: string, read: (report: Report) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["scope"],
      registers: [registry],
      collect() {
        for (const report of reconciler.newest) this.set({ scope: report.scope }, read(report));
      },
    });
  perScope("reconcile_differences", "Differences that were found", (one) => one.differences);
  perScope("reconcile_unchecked", "Rules that could not be compared", (one) => one.unchecked);
  perScope(
    "reconcile_finished_seconds",
    "When the books were last compared, Unix seconds",
    (one) => one.finishedAt / 1_000,
  );
  perScope(
    "reconcile_duration_seconds",
    "How long it took",
    (one) => (one.finishedAt - one.startedAt) / 1_000,
  );
}

/** What is not as it should be with the books, as far as the newest comparisons say. */
export function reconcileReasons(
  reconciler: Pick<Reconciler, "newest" | "patienceMs" | "lookingMs">,
  now: number,
): string[] {
  const reasons = reconciler.newest.filter(({ differences }) => differences > 0).map((report) =>
    `the ${report.scope} comparison of the books of ${
      new Date(report.finishedAt).toISOString()
    } found ${report.differences} differences`
  );
  const latest = Math.max(0, ...reconciler.newest.map(({ finishedAt }) => finishedAt));
  if (latest > 0 && now - latest > reconciler.patienceMs) {
    reasons.push(`the books were last compared at ${new Date(latest).toISOString()}`);
  }
  if (latest === 0 && reconciler.lookingMs > reconciler.patienceMs) {
    reasons.push("the books were not compared since the start");
  }
  return reasons;
}
