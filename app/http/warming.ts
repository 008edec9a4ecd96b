import { delay } from "../../ledger/database/delay.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** Time for which all networks together or the rates may keep a node that has started from being ready. */
const BOUND_MS = 15_000;
/** The same for one network that is away while others are there. */
const ONE_AWAY_MS = 3_000;
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
 * not known, hold it up for a bounded time, one network among others for a short one; then they are reasons of a
 * degraded node.
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
    const away = networks.filter((_, index) => watched[index] === false);
    const reasons = away.map((network) => `starting: ${network} was not reached yet`);
    if (!hasRates()) reasons.push("starting: exchange rates are not known yet");
    const isOneAway = hasRates() && away.length < networks.length;
    const boundMs = isOneAway ? ONE_AWAY_MS : BOUND_MS;
    this.#isOver = reasons.length === 0 || monotonic() - this.#begunAt >= boundMs;
    return this.#isOver ? [] : reasons;
  }

  /** Waits until it is over, within a bound in milliseconds. */
  async wait(boundMs: number): Promise<void> {
    const end = this.#parts.monotonic() + boundMs;
    while ((await this.reasons()).length > 0 && this.#parts.monotonic() < end) await delay(LOOK_MS);
  }
}
