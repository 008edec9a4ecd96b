import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable, type TokenSwitches } from "../../chains/chain.ts";
import type { Currency } from "../../ledger/money/pair.ts";

/** Milliseconds between two readings of a token's switches. */
const READ_MS = 60 * 60_000;
/** The same while something is switched, or nodes did not answer. */
const READ_AGAIN_MS = 60_000;
/** Bound of reading the switches of one token. */
const BOUND_MS = 10_000;

/** A token that its issuer has switched to something else than usual. */
export interface TokenTrouble {
  readonly currency: Currency;
  /** For people: `its issuer has paused all transfers`. */
  readonly text: string;
  /** True where nothing of it is to leave meanwhile. */
  readonly holds: boolean;
}

/** The reason shown for transfers of a token that are held. */
export function heldBy({ text }: TokenTrouble): string {
  return `waiting for the token: ${text}`;
}

/** The switches of a network's tokens, read at the start and now and then. */
export class TokenWatch {
  readonly #chain: Pick<Chain, "network" | "capabilities" | "hotWallet" | "tokenSwitches">;
  /** Monotonic milliseconds. */
  readonly #now: () => number;
  readonly #troubles = new Map<Currency, readonly TokenTrouble[]>();
  readonly #readAt = new Map<Currency, number>();

  /** @param now monotonic milliseconds */
  constructor(
    chain: Pick<Chain, "network" | "capabilities" | "hotWallet" | "tokenSwitches">,
    now: () => number = () => performance.now(),
  ) {
    this.#chain = chain;
    this.#now = now;
  }

  /** Switches that are on, as of the last poll. */
  get troubles(): readonly TokenTrouble[] {
    return [...this.#troubles.values()].flat();
  }

  /** Currencies of which nothing is to leave now. */
  get held(): readonly Currency[] {
    return [...new Set(this.troubles.filter(({ holds }) => holds).map(({ currency }) => currency))];
  }

  /**
   * Reads the switches that are due. What a node does not answer stays as it was known: the events of
   * each simulated transfer are compared besides.
   *
   * @returns reasons (see {@linkcode heldBy}) that hold transfers no longer
   */
  async poll(): Promise<readonly string[]> {
    const { capabilities: { currencies } } = this.#chain;
    const over: string[] = [];
    for (const currency of currencies) {
      if ((this.#readAt.get(currency) ?? -Infinity) > this.#now()) continue;
      over.push(...await this.#read(currency));
    }
    return over;
  }

  async #read(currency: Currency): Promise<readonly string[]> {
    const { network, hotWallet } = this.#chain;
    this.#readAt.set(currency, this.#now() + READ_AGAIN_MS);
    const before = this.#troubles.get(currency) ?? [];
    let switches: TokenSwitches;
    try {
      const signal = AbortSignal.timeout(BOUND_MS);
      switches = await this.#chain.tokenSwitches(currency, hotWallet, signal);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logEvent("token.unread", { network, currency, error });
      return [];
    }
    const found = troublesOf(currency, switches);
    this.#troubles.set(currency, found);
    if (found.length === 0) this.#readAt.set(currency, this.#now() + READ_MS);
    for (const { text } of found.filter((one) => !before.some(({ text }) => text === one.text))) {
      logEvent("token.switched", { network, currency, text });
    }
    return before.map(heldBy).filter((reason) => !found.some((one) => heldBy(one) === reason));
  }
}

/** Finds the switches of a token that are not as usual. */
export function troublesOf(currency: Currency, switches: TokenSwitches): readonly TokenTrouble[] {
  const { isPaused, keepsPart, successor, isBlocked } = switches;
  const all: readonly (TokenTrouble & { readonly isSo: boolean })[] = [
    { isSo: isPaused, currency, text: "its issuer has paused all transfers", holds: true },
    { isSo: keepsPart, currency, text: "it keeps a part of each transfer", holds: true },
    { isSo: isBlocked, currency, text: "its issuer has blocked the hot wallet", holds: true },
    {
      isSo: successor !== null,
      currency,
      text: `another contract has taken its place, deposits there are not seen: ${successor}`,
      // a transfer by the old contract is simulated like any other, and waits if it would not arrive
      holds: false,
    },
  ];
  return all.filter(({ isSo }) => isSo).map(({ isSo: _, ...trouble }) => trouble);
}
