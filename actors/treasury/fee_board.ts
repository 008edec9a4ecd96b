/**
 * Present costs of payouts, per network and currency: estimated with real transfers to both kinds of
 * receivers, again and again in the background, so that no quote waits for a node.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { type Amount, fromTokenUnits } from "../../ledger/money/amount.ts";
import { type DynamicFee, dynamicFeeOf } from "../../ledger/money/fees.ts";
import {
  type Currency,
  type Network,
  type PairKey,
  pairKey,
  tokenDecimals,
} from "../../ledger/money/pair.ts";

/** Index of an own address that is never handed out, so that it never holds anything. */
const UNUSED_INDEX = 2 ** 31 - 1;
/** Time for which an answer is given again: every request asks, and making it takes some divisions. */
const MEMO_MS = 1_000;

/** Kept as the last failure of a pair whose transfers cost more than the cap. */
const ABOVE_CAP = "a transfer costs more than the cap";

/** Worth of a coin in a stablecoin. */
export interface CoinRate {
  /** Units of the stablecoin per coin, a positive decimal string. */
  readonly rate: string;
  /** Its time, Unix milliseconds. */
  readonly at: number;
}

/** Terms by which a network's dynamic fee follows its costs. */
export interface FeeTerms {
  /** The transfer that is charged for: one to a receiver without the token costs about twice. */
  readonly receiver: "new" | "holder";
  /** Added to the cost, as a fraction, for example `"0.1"`. */
  readonly margin: string;
  /** The least that is charged, in the currency. */
  readonly floor: Amount;
  /** The most that one transaction may cost, in the chain's own coin. */
  readonly cap: Amount;
}

/**
 * Cost of a transfer in the chain's own coin, by what its receiver held before; the cap where it is above that:
 * the transfer waits until it costs no more.
 */
export interface TransferCost {
  /** To an address that holds the token. */
  readonly holder: Amount;
  /** To one that does not. */
  readonly newHolder: Amount;
  /** Time of the estimate, Unix milliseconds. */
  readonly at: number;
}

/** Everything a dynamic fee is made of, as the operator sees it. */
export interface FeeBasis {
  readonly cost: TransferCost | null;
  /** Units of the currency per coin. */
  readonly rate: CoinRate | null;
  readonly fee: DynamicFee;
  /** Reason for which there is no estimate; null where there is one. */
  readonly missing: string | null;
}

/** Dependencies of a board. */
export interface FeeBoardOptions {
  readonly chains: ReadonlyMap<
    Network,
    Pick<Chain, "capabilities" | "hotWallet" | "deriveAddress" | "estimateFee">
  >;
  /** Worth of a network's own coin; null where no fresh rate is known. */
  readonly coinRate: (network: Network, currency: Currency) => CoinRate | null;
  readonly terms: (network: Network) => FeeTerms;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Interval at which costs are estimated; default 2 minutes. */
  readonly refreshMs?: number;
  /** Bound of one estimate; default 10 s. */
  readonly timeoutMs?: number;
  /** Age up to which an estimate counts; default 15 minutes. */
  readonly maxAgeMs?: number;
}

/** The costs of payouts on all networks. */
export class FeeBoard {
  readonly #options: FeeBoardOptions;
  readonly #costs = new Map<PairKey, TransferCost>();
  /** Reason for which the last estimate failed or was the cap, so that it is logged once. */
  readonly #failures = new Map<PairKey, string>();
  readonly #memo = new Map<PairKey, { readonly fee: DynamicFee; readonly at: number }>();
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | null = null;

  constructor(options: FeeBoardOptions) {
    this.#options = options;
  }

  /** Present charge of a dynamic pair; asking costs nothing. */
  dynamicFee(network: Network, currency: Currency): DynamicFee {
    const key = pairKey(currency, network);
    const now = this.#options.now();
    const known = this.#memo.get(key);
    if (known !== undefined && now >= known.at && now < known.at + MEMO_MS) return known.fee;
    const { fee } = this.basis(network, currency);
    this.#memo.set(key, { fee, at: now });
    return fee;
  }

  /** Parts that the fee of {@linkcode dynamicFee} is made of, or why it is missing. */
  basis(network: Network, currency: Currency): FeeBasis {
    const { coinRate, terms, now, maxAgeMs = 15 * 60_000 } = this.#options;
    const { receiver, margin, floor } = terms(network);
    const cost = this.#costs.get(pairKey(currency, network)) ?? null;
    const rate = coinRate(network, currency);
    const without = (missing: string): FeeBasis => ({
      cost,
      rate,
      fee: { estimate: null, floor },
      missing,
    });
    if (cost === null) {
      const failure = this.#failures.get(pairKey(currency, network));
      return without(failure ?? "the cost of a transfer was not estimated yet");
    }
    const age = now() - cost.at;
    // a clock that was set back makes estimates of the future, whose age is unknown
    if (age < 0 || age > maxAgeMs) return without("the estimate of a transfer's cost is too old");
    if (rate === null) return without("no fresh rate of the chain's coin is known");
    const coin = receiver === "new" ? cost.newHolder : cost.holder;
    const estimate = dynamicFeeOf(coin, rate.rate, margin);
    return { cost, rate, fee: { estimate, floor }, missing: null };
  }

  /** Estimates now and from time to time. */
  start(): void {
    const refresh = () => {
      this.#running ??= this.refresh().finally(() => this.#running = null);
    };
    refresh();
    this.#timer = setInterval(refresh, this.#options.refreshMs ?? 2 * 60_000);
  }

  /** Ends estimating. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await this.#running;
  }

  /** Estimates every pair once; one that cannot be estimated keeps what is known. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#options.chains].map(async ([network, chain]) => {
      for (const currency of chain.capabilities.currencies) {
        await this.#estimate(network, currency, chain);
      }
    }));
  }

  async #estimate(
    network: Network,
    currency: Currency,
    chain: Pick<Chain, "hotWallet" | "deriveAddress" | "estimateFee">,
  ): Promise<void> {
    const { now, terms, timeoutMs = 10_000 } = this.#options;
    const key = pairKey(currency, network);
    // the smallest transfer costs what any other does, and needs next to no funds
    const amount = fromTokenUnits(1n, tokenDecimals(currency, network));
    const from = chain.hotWallet;
    const at = now();
    const tooDear: ChainUnavailable[] = [];
    const costOf = async (to: string) => {
      const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return (await chain.estimateFee([{ from, to, asset: currency, amount }], signal)).fee;
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || error.category !== "above-cap") throw error;
        // without a cost the pair would fall back to its fixed fee just when gas is dearest
        tooDear.push(error);
        return terms(network).cap;
      }
    };
    try {
      // the hot wallet is a holder if it can pay at all
      const holder = await costOf(from);
      const newHolder = await costOf(chain.deriveAddress(UNUSED_INDEX));
      this.#costs.set(key, { holder, newHolder, at });
      const [capped] = tooDear;
      if (capped !== undefined) {
        if (this.#failures.get(key) === ABOVE_CAP) return;
        this.#failures.set(key, ABOVE_CAP);
        logEvent("fee.capped", { network, currency, reason: capped.message });
      } else if (this.#failures.delete(key)) {
        logEvent("fee.known", { network, currency });
      }
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (!(error instanceof ChainUnavailable)) {
        return logEvent("fee.failed", { network, currency, error });
      }
      const failure = error.category === "reverted"
        ? "a transfer from the hot wallet would fail now"
        : "the node does not tell what a transfer costs";
      if (this.#failures.get(key) === failure) return;
      this.#failures.set(key, failure);
      logEvent("fee.unknown", { network, currency, failure, reason: error.message });
    }
  }
}
