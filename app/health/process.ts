import process from "node:process";
import type { Registry } from "prom-client";
import { registerFigures, registerSingle } from "./figures.ts";

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
  registerFigures(
    registry,
    () => [0.5, 0.99, 1].map((share) => [String(share), share] as const),
    { engine_event_loop_delay_seconds: (share) => delay.within(share) / 1_000 },
  );
}

/**
 * Registers processor time, memory and the version of the process.
 *
 * The library's own set of metrics is left out: half of it is zero under this runtime, and reading its
 * histogram of the loop takes the runtime's thread 180 ms and more.
 */
export function registerProcessMetrics(registry: Registry, version: string): void {
  const startedAt = performance.timeOrigin / 1_000;
  registerFigures(registry, () => [[version, undefined]], { engine_build_info: () => 1 });
  registerSingle(registry, {
    process_cpu_seconds_total: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000_000;
    },
    process_start_time_seconds: () => startedAt,
    process_resident_memory_bytes: () => Deno.memoryUsage().rss,
    engine_heap_used_bytes: () => Deno.memoryUsage().heapUsed,
  });
}
