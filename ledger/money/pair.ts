/**
 * The (currency, network) pairs that money is segmented by. Nothing ever moves between pairs.
 *
 * @module
 */

/** Currencies the service knows. */
export const CURRENCIES = ["USDT", "USDC"] as const;
/** One of {@linkcode CURRENCIES}. */
export type Currency = (typeof CURRENCIES)[number];

/** Networks the service knows, main networks first. */
export const NETWORKS = [
  "TRX",
  "ETH",
  "BNB",
  "SOL",
  "TRX_SHASTA",
  "SEP",
  "tBNB",
  "SOL_DEVNET",
] as const;
/** One of {@linkcode NETWORKS} (the interface calls it NetworkSymbol). */
export type Network = (typeof NETWORKS)[number];

/** One segment of money. */
export interface Pair {
  readonly currency: Currency;
  readonly network: Network;
}

/** The asset of an outgoing transfer: a token, or the chain's own coin (`native`). */
export type OutgoingAsset = Currency | "native";

/** Text form of a pair, used as a map key. */
export type PairKey = `${Currency}/${Network}`;

/** The map key of a pair. */
export function pairKey(currency: Currency, network: Network): PairKey {
  return `${currency}/${network}`;
}

/** True where the text names a network. */
export function isNetwork(text: string): text is Network {
  return (NETWORKS as readonly string[]).includes(text);
}

/**
 * Decimals of a token on a network: 18 for the BNB chain's pegged tokens, 6 everywhere else.
 * Adapters compare it with the contract's own `decimals()` before they move anything.
 */
export function tokenDecimals(_currency: Currency, network: Network): number {
  return network === "BNB" || network === "tBNB" ? 18 : 6;
}
