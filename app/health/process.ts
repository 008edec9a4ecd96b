import { collectDefaultMetrics, type Registry } from "prom-client";
import { registerGauges } from "./figures.ts";

/** Interval of the measurements, and the number of them that is kept: those of ten seconds. */
const EVERY_MS = 250;
const KEPT = 40;
/** Above it in half of the measurements, everybody waits for the one thread. */
const HIGH_MS = 250;
/** Above this share of the time in which the thread was held, too: a turn of seconds is one measurement. */
const HELD = 2 / 3;

/** Measures how late the one thread comes to what is due: what one request takes, all others wait for. */
export class LoopDelay {
  readonly #delays: number[] = [];
  #next = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  /** Begins to measure. */
  start(): void {
    let due = performance.now() + EVERY_MS;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.add(Math.max(0, now - due));
      due = now + EVERY_MS;
    }, EVERY_MS);
  }

  /** Ends measuring. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Adds one measurement, milliseconds. */
  add(delayMs: number): void {
    this.#delays[this.#next] = delayMs;
    this.#next = (this.#next + 1) % KEPT;
  }

  /** The delay that so large a share of the last ten seconds stayed within, milliseconds. */
  within(share: number): number {
    const sorted = this.#delays.toSorted((a, b) => a - b);
    return sorted[Math.ceil((sorted.length - 1) * share)] ?? 0;
  }

  /** Troubles that are worth a warning: not one long turn, but many. */
  reasons(): string[] {
    if (this.#delays.length < KEPT) return [];
    const usual = this.within(0.5);
    if (usual >= HIGH_MS) {
      return [`the event loop is late by ${Math.round(usual)} ms: requests wait for each other`];
    }
    const heldMs = this.#delays.reduce((sum, ms) => sum + ms, 0);
    const allMs = heldMs + KEPT * EVERY_MS;
    if (heldMs < allMs * HELD) return [];
    const [held, all] = [heldMs, allMs].map((ms) => Math.round(ms / 1_000));
    return [`the event loop stood still for ${held} of the last ${all} s: requests wait meanwhile`];
  }
}

/** Registers how late the loop is. */
export function registerLoopMetrics(registry: Registry, delay: LoopDelay): void {
  registerGauges(
    registry,
    ["quantile"],
    () => [0.5, 0.99, 1].map((share) => [String(share), share] as const),
    {
      event_loop_delay_seconds: [
        "How late due work begins, over the last ten seconds; quantile 1 is the longest",
        (share) => delay.within(share) / 1_000,
      ],
    },
  );
}

/**
 * Registers the library's metrics of the process: processor time, memory, descriptors, garbage
 * collection.
 *
 * Its `nodejs_eventloop_lag_*` are left out. Reading that histogram takes the runtime's thread some
 * 180 ms after ten seconds and more the longer it was not read, and everybody waits meanwhile.
 * `event_loop_delay_seconds` measures the same at no cost. The library goes on feeding the histogram, which
 * takes 0.4 % of a core.
 */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith("nodejs_eventloop_lag")) registry.removeSingleMetric(name);
  }
}
