import type { Registry } from "prom-client";
import type { DatabaseClock } from "../../ledger/database/database_clock.ts";
import { registerSingle } from "./figures.ts";

/** Milliseconds by which a machine's clock may differ from the database's before it is reported. */
const DIFFERS_MS = 1_000;
/** Milliseconds by which a beginning may be in the future before it is reported: nodes' clocks differ, and reads take time. */
const FUTURE_MS = 5_000;
/** Milliseconds for which the database's clock may be unread before it is reported. */
const UNREAD_MS = 60_000;

/** Troubles with the clocks. */
export function clockReasons({ figures }: Pick<DatabaseClock, "figures">): string[] {
  const { aheadMs, ageMs } = figures;
  const reasons: string[] = [];
  if (Math.abs(aheadMs) > DIFFERS_MS) {
    const side = aheadMs > 0 ? "ahead of" : "behind";
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
    reasons.push(`this machine's clock is ${seconds} s ${side} the database's`);
  }
  if (ageMs > UNREAD_MS) {
    reasons.push(`the database's clock was last read ${Math.floor(ageMs / 1_000)} s ago`);
  }
  return reasons;
}

/** Something that began at a time, Unix milliseconds; `null`: there is none. */
export type Begun = readonly [what: string, at: number | null];

/** Names each beginning in the future: its age is unknown, and no alarm about its age would come in time. */
export function futureReasons(begun: readonly Begun[], now: number): string[] {
  return begun.flatMap(([what, at]) => {
    if (at === null || at - now <= FUTURE_MS) return [];
    return [`${what} is from the future: ${new Date(at).toISOString()}`];
  });
}

/** Registers how the clocks stand to each other. */
export function registerClockMetrics(
  registry: Registry,
  clock: Pick<DatabaseClock, "figures">,
): void {
  registerSingle(registry, {
    engine_clock_ahead_of_database_seconds: () => clock.figures.aheadMs / 1_000,
    engine_clock_database_jumps_total: () => clock.figures.jumps,
    engine_clock_database_age_seconds: () => clock.figures.ageMs / 1_000,
  });
}
