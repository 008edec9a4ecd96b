/**
 * TRON's coin, and the token contracts an adapter is configured with. A token is known by its contract's address,
 * never by a symbol: everyone can deploy a contract that emits the same events.
 *
 * @module
 */

import { type Amount, fromTokenUnits } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import { addressToHex } from "./address.ts";

/** TRX has 6 decimals; its smallest unit is the sun. */
export const TRX_DECIMALS = 6;

/** Sun as an amount. */
export function sunAmount(count: number): Amount {
  return fromTokenUnits(BigInt(count), TRX_DECIMALS);
}

/** Token contracts by currency, base58check; a currency without one is not supported. */
export type TokenContracts = Readonly<Partial<Record<Currency, string>>>;

/** Published contracts of the public networks, for configuration defaults. */
export const PUBLIC_CONTRACTS = {
  // TRX: tether.to and developers.tron.network. USDC is left out: its issuer stopped minting it
  // on TRON in February 2024.
  TRX: { USDT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  // The token of developers.tron.network's TRC-20 tutorial.
  TRX_SHASTA: { USDT: "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs" },
} as const satisfies Record<string, TokenContracts>;

/**
 * Configured contracts as `[currency, 42 hex digits]`.
 *
 * @throws {RangeError} when a contract's address is malformed
 */
export function contractEntries(contracts: TokenContracts): [Currency, string][] {
  const entries: [Currency, string][] = [];
  for (const currency of CURRENCIES) {
    const contract = contracts[currency];
    if (contract !== undefined) entries.push([currency, addressToHex(contract)]);
  }
  return entries;
}
