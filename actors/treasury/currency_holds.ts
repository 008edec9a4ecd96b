import type { OutgoingAsset } from "../../ledger/money/pair.ts";

/** Milliseconds for which a currency is left alone whose cap of the day is reached. */
const CAPPED_MS = 60_000;
/** The same while the signer signs nothing at all. */
const CLOSED_MS = 3_000;
/** Transfers that find out whether a currency is signed for again. */
const PROBES = 4;

/** Why a currency is not signed for: its cap of the day is reached, or nothing is signed at all. */
export type HoldCause = "capped" | "closed";

/**
 * Currencies that the signer does not sign for at the moment. Preparing a transfer asks nodes, so
 * none is prepared while that would be in vain, and then only a few at first. Kept in memory: it
 * saves calls, and nothing depends on it.
 */
export class CurrencyHolds {
  readonly #now: () => number;
  readonly #until = new Map<OutgoingAsset, number>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Currencies of which nothing is to be prepared now. */
  get held(): readonly OutgoingAsset[] {
    return [...this.#until].filter(([, until]) => until > this.#now()).map(([asset]) => asset);
  }

  /** The most transfers of a currency that are to be prepared now. */
  most(asset: OutgoingAsset): number {
    const until = this.#until.get(asset);
    if (until === undefined) return Infinity;
    return until > this.#now() ? 0 : PROBES;
  }

  /** Notes that a transfer of the currency was refused for a cause that all of it share. */
  refused(asset: OutgoingAsset, cause: HoldCause): void {
    this.#until.set(asset, this.#now() + (cause === "capped" ? CAPPED_MS : CLOSED_MS));
  }

  /** Notes that a transfer of the currency was signed. */
  signed(asset: OutgoingAsset): void {
    this.#until.delete(asset);
  }
}
