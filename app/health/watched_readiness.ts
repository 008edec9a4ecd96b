import type { Registry } from "prom-client";
import { oneAtATime } from "../../actors/runtime/one_at_a_time.ts";
import { within } from "../../actors/runtime/within.ts";
import type { Readiness } from "../../api/http/context.ts";
import { registerFigures, registerSingle } from "./figures.ts";
import { kindOf, REASON_KINDS } from "./reason_table.ts";

/** For how long a look is shown again, milliseconds. */
const KEPT_MS = 1_000;
/** Bound of the wait of metrics for a look, milliseconds. */
const METRICS_MS = 2_500;

/**
 * Registers what readiness found, so that every reason can be an alert.
 *
 * @param monotonic milliseconds of a clock that is never set
 * @returns readiness, looked at once for all who ask within a second
 */
export function watchReadiness(
  registry: Registry,
  readiness: () => Promise<Readiness>,
  monotonic: () => number = () => performance.now(),
): () => Promise<Readiness> {
  let last: Readiness | null = null;
  let lastAt = monotonic();
  const look = oneAtATime(async () => {
    last = await readiness();
    lastAt = monotonic();
    return last;
  });
  const kept = () => {
    const isNew = last !== null && monotonic() - lastAt < KEPT_MS;
    return isNew && last !== null ? Promise.resolve(last) : look();
  };
  const shown = async () => {
    // the age shows a look that hangs; one that throws would be a bug, which its caller meets
    await within(METRICS_MS, kept().catch(() => {}));
    return last;
  };
  registerFigures(
    registry,
    async () => {
      const found = await shown();
      if (found === null) return [];
      const kinds = Map.groupBy(found.reasons, kindOf);
      return REASON_KINDS.map((kind) => [kind, kinds.get(kind)?.length ?? 0] as const);
    },
    { engine_readiness_reasons: (count) => count },
  );
  registerSingle(registry, {
    engine_ready: () => last === null ? null : last.status === "unready" ? 0 : 1,
    engine_readiness_age_seconds: () => (monotonic() - lastAt) / 1_000,
  });
  return kept;
}
