/**
 * The coins that networks' transactions are paid in, by what public sources call them. A coin is a row
 * here; that a network has it is said by its profile.
 *
 * @module
 */

import { PROFILES } from "../chains/profiles.ts";
import type { Network } from "../ledger/money/pair.ts";

/** A coin's names at the sources. */
interface CoinNames {
  /** Id in CoinGecko's list of coins. */
  readonly coinGecko: string;
  /** Pairs that Kraken trades: one that it does not know would make the whole request fail. */
  readonly kraken: string;
  /** US dollars per coin, roughly: what development works with. */
  readonly dollars: string;
}

/** Every coin that sources price. Binance has each of them as a pair with USDT. */
export const COINS = {
  TRX: { coinGecko: "tron", kraken: "TRXUSD,TRXEUR", dollars: "0.3" },
  ETH: { coinGecko: "ethereum", kraken: "ETHUSD,ETHEUR", dollars: "3000" },
  BNB: { coinGecko: "binancecoin", kraken: "BNBUSD", dollars: "900" },
  SOL: { coinGecko: "solana", kraken: "SOLUSD,SOLEUR", dollars: "150" },
} as const satisfies Readonly<Record<string, CoinNames>>;

/** One of {@linkcode COINS}. */
export type Coin = keyof typeof COINS;

/** True for the name of one of {@linkcode COINS}. */
export function isCoin(name: string): name is Coin {
  return Object.hasOwn(COINS, name);
}

/**
 * The coin that transactions of a network are paid in; null where no source prices it. A test
 * network's coin is worth nothing, so it is counted as the one it stands for.
 */
export function coinOf(network: Network): Coin | null {
  const { symbol } = PROFILES[network].coin;
  return isCoin(symbol) ? symbol : null;
}

/** The coins of some networks, each once: sources are asked for no other. */
export function coinsOf(networks: Iterable<Network>): readonly Coin[] {
  return [...new Set([...networks].flatMap((network) => coinOf(network) ?? []))];
}
