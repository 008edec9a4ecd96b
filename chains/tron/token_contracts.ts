/**
 * TRON's coin, and the token contracts an adapter is configured with. A token is known by its contract's address,
 * never by a symbol: everyone can deploy a contract that emits the same events.
 *
 * @module
 */

import { type Amount, fromTokenUnits } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import type { TokenContracts } from "../profiles.ts";
import { addressToHex } from "./address.ts";

/** TRX has 6 decimals; its smallest unit is the sun. */
export const TRX_DECIMALS = 6;

/** Sun as an amount. */
export function sunAmount(count: number): Amount {
  return fromTokenUnits(BigInt(count), TRX_DECIMALS);
}

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
