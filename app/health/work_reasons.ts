import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";

/** Time that one message may take an actor before it is said; reading 500 blocks takes a minute. */
const BUSY_MS = 180_000;
/** Intervals that periodic work may miss, and the least time before that is said. */
const MISSED = 3;
const LEAST_MS = 60_000;

/** Finds the parts of a node's own work that do not go on. */
export function workReasons(
  engine: Pick<Engine, "busyFor" | "periodic" | "timeFigures">,
): string[] {
  const reasons = engine.busyFor(BUSY_MS).map(({ actor, ms }) =>
    `${actor} has been busy for ${Math.floor(ms / 1_000)} s`
  );
  for (const { name, everyMs, ageMs } of engine.periodic) {
    if (ageMs <= Math.max(MISSED * everyMs, LEAST_MS)) continue;
    reasons.push(`to ${name} was last completed ${Math.floor(ageMs / 1_000)} s ago`);
  }
  const { brokenTimers } = engine.timeFigures;
  if (brokenTimers > 0) reasons.push(`${brokenTimers} timers cannot be delivered`);
  return reasons;
}

/** Registers how a node's own work goes on. */
export function registerWorkMetrics(
  registry: Registry,
  engine: Pick<Engine, "busyFor" | "periodic" | "timeFigures">,
): void {
  new Gauge({
    name: "periodic_age_seconds",
    help: "Since periodic work was last completed",
    labelNames: ["task"],
    registers: [registry],
    collect() {
      for (const { name, ageMs } of engine.periodic) this.set({ task: name }, ageMs / 1_000);
    },
  });
  new Gauge({
    name: "actor_busy_seconds",
    help: "How long the message at hand has taken the actor that it has taken longest",
    registers: [registry],
    collect() {
      this.set(Math.max(0, ...engine.busyFor(0).map(({ ms }) => ms)) / 1_000);
    },
  });
  new Gauge({
    name: "timers_broken",
    help: "Timers that cannot be delivered",
    registers: [registry],
    collect() {
      this.set(engine.timeFigures.brokenTimers);
    },
  });
  new Gauge({
    name: "kept_times_bounded",
    help: "Kept times that a wrong clock had put off, and that were taken back",
    registers: [registry],
    collect() {
      this.set(engine.timeFigures.boundedTimes);
    },
  });
}
