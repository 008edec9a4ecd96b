/**
 * Keeps the rates of several sources at hand, read again and again in the background, so that no
 * request and no decision waits for another company's server.
 *
 * @module
 */

import { logEvent } from "../log/log_event.ts";
import { CURRENCIES } from "../ledger/money/pair.ts";
import { agreedRate } from "./agreed_rate.ts";
import type { FiatRate, Priced, Rates } from "./rates.ts";
import { type RateSource, type RateTable, RateUnavailable } from "./source.ts";

/** Pause between two reads of every source. */
const REFRESH_MS = 60_000;
/** Bound of one read. */
const READ_MS = 10_000;

export interface RateBoardOptions {
  readonly sources: readonly RateSource[];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Greatest age of a quote; default 5 minutes. */
  readonly maxAgeMs?: number;
}

interface Quoted {
  readonly table: RateTable;
  readonly at: number;
}

/** The rates of all sources. */
export class RateBoard implements Rates {
  readonly #options: RateBoardOptions;
  /** The newest table of each source, by source and what it priced. */
  readonly #quoted = new Map<string, Quoted>();
  #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | null = null;

  constructor(options: RateBoardOptions) {
    this.#options = options;
  }

  find(priced: Priced, fiat: string): FiatRate | null {
    const { sources, now, maxAgeMs = 300_000 } = this.#options;
    const at = now();
    const quotes = sources.flatMap(({ name }): FiatRate[] => {
      const quoted = this.#quoted.get(`${name}/${priced}`);
      const rate = quoted?.table.get(fiat);
      if (quoted === undefined || rate === undefined) return [];
      const age = at - quoted.at;
      // a clock that was set back makes quotes of the future, whose age is not known
      return age >= 0 && age <= maxAgeMs ? [{ rate, at: quoted.at }] : [];
    });
    return agreedRate(quotes);
  }

  /** Reads every source now and from time to time. */
  start(): void {
    const refresh = () => {
      this.#running ??= this.refresh().finally(() => this.#running = null);
    };
    refresh();
    this.#timer = setInterval(refresh, REFRESH_MS);
  }

  /** Ends reading. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await this.#running;
  }

  /** Reads every source once; what a source does not give keeps its earlier rate. */
  async refresh(): Promise<void> {
    const { sources } = this.#options;
    await Promise.all(
      sources.flatMap((source) =>
        (source.prices ?? CURRENCIES).map((priced) => this.#read(source, priced))
      ),
    );
  }

  async #read(source: RateSource, priced: Priced): Promise<void> {
    const { now } = this.#options;
    // the time before the request: a quote is never younger than it says
    const at = now();
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(READ_MS)]);
    try {
      const table = await source.read(priced, signal);
      this.#quoted.set(`${source.name}/${priced}`, { table, at });
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (!(error instanceof RateUnavailable)) {
        logEvent("rates.malformed", { source: source.name, error });
        return;
      }
      logEvent("rates.missing", {
        priced,
        source: source.name,
        reason: error.message,
      });
    }
  }
}
