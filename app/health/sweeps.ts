import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { SWEEP_REASONS, type SweepReason } from "../../ledger/sweeps/sweep_addresses.ts";
import { registerFigures } from "./figures.ts";

/** A top-up that is final for so long should have been swept. */
const TOP_UP_MS = 24 * 60 * 60_000;
/** Reasons that do not pass by themselves. */
const STUCK: readonly SweepReason[] = ["failed", "unexpected", "would_fail", "balance_differs"];

/** Troubles with the sweeps of a network. */
export function sweepReasons(
  engine: Pick<Engine, "sweeps">,
  network: Network,
  now: number,
): string[] {
  const status = engine.sweeps.get(network);
  if (status === undefined) return [];
  const reasons = STUCK.flatMap((reason) => {
    const addresses = status.waiting.get(reason) ?? 0;
    return addresses === 0 ? [] : [`${network} cannot sweep ${addresses} addresses: ${reason}`];
  });
  if (status.failing > 0) {
    reasons.push(`${network} cannot look at ${status.failing} addresses that are to be swept`);
  }
  if (status.held > 0) {
    const held = `${status.held} addresses that were paid`;
    reasons.push(`${network} cannot sweep ${held}: an open transaction holds their rows`);
  }
  if (status.oldestTopUpAt !== null && now - status.oldestTopUpAt > TOP_UP_MS) {
    reasons.push(`${network} has a top-up that is final for more than a day and not swept`);
  }
  return reasons;
}

/** Registers what waits to be swept, by reason. */
export function registerSweepMetrics(
  registry: Registry,
  engine: Pick<Engine, "sweeps">,
  now: () => number,
): void {
  registerFigures(
    registry,
    () =>
      [...engine.sweeps].flatMap(([network, { waiting }]) =>
        SWEEP_REASONS.map((reason) => [[network, reason], waiting.get(reason) ?? 0] as const)
      ),
    { engine_sweep_waiting_addresses: (count) => count },
  );
  registerFigures(registry, () => engine.sweeps, {
    engine_sweep_failing_addresses: ({ failing }) => failing,
    engine_sweep_held_addresses: ({ held }) => held,
    engine_sweep_oldest_top_up_seconds: ({ oldestTopUpAt }) =>
      oldestTopUpAt === null ? 0 : (now() - oldestTopUpAt) / 1_000,
  });
}
