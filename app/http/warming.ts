import { delay } from "../../ledger/database/delay.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** Time for which a network or the rates may keep a node that has started from being ready. */
const BOUND_MS = 15_000;
/** Pause between two polls of a caller that waits. */
const LOOK_MS = 20;

/** The parts that have to be there before the first request. */
export interface WarmingParts {
  readonly networks: readonly Network[];
  /** True where deposit addresses of a network can be handed out. */
  readonly isWatched: (network: Network) => Promise<boolean>;
  /** True where it is known what stablecoins are worth. */
  readonly hasRates: () => boolean;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
}

/**
 * The time between listening and being ready. A network whose nodes are away, or rates that are
 * not known, hold it up for a bounded time; then they are reasons of a degraded node.
 */
export class Warming {
  readonly #parts: WarmingParts;
  #begunAt: number | null = null;
  #isOver = false;

  constructor(parts: WarmingParts) {
    this.#parts = parts;
  }

  /** The actors run. */
  begin(): void {
    this.#begunAt ??= this.#parts.monotonic();
  }

  /** Reasons for which requests would fail that succeed in a moment; empty: no more, and never again. */
  async reasons(): Promise<readonly string[]> {
    if (this.#isOver) return [];
    const { networks, isWatched, hasRates, monotonic } = this.#parts;
    if (this.#begunAt === null) return ["starting: the actors do not run yet"];
    const watched = await Promise.all(networks.map(isWatched));
    const reasons = networks.filter((_, index) => watched[index] === false)
      .map((network) => `starting: ${network} was not reached yet`);
    if (!hasRates()) reasons.push("starting: exchange rates are not known yet");
    this.#isOver = reasons.length === 0 || monotonic() - this.#begunAt >= BOUND_MS;
    return this.#isOver ? [] : reasons;
  }

  /** Waits until it is over, within a bound in milliseconds. */
  async wait(boundMs: number): Promise<void> {
    const end = this.#parts.monotonic() + boundMs;
    while ((await this.reasons()).length > 0 && this.#parts.monotonic() < end) await delay(LOOK_MS);
  }
}
