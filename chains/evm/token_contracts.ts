/**
 * The token contracts an adapter is configured with, and what is called on them. A token is known by its
 * contract's address, never by a symbol: everyone can deploy a contract that emits the same events.
 *
 * @module
 */

import { encodeFunctionData, parseAbi } from "viem/utils";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import type { TokenContracts } from "../profiles.ts";
import { evmAddress } from "./address.ts";

/** Methods of ERC-20, and switches that issuers have built into their tokens. */
const TOKEN_ABI = parseAbi([
  "function transfer(address to, uint256 amount)",
  "function balanceOf(address holder) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "function symbol() view returns (string)",
  "function paused() view returns (bool)",
  "function basisPointsRate() view returns (uint256)",
  "function maximumFee() view returns (uint256)",
  "function deprecated() view returns (bool)",
  "function upgradedAddress() view returns (address)",
  "function getBlackListStatus(address holder) view returns (bool)",
  "function isBlackListed(address holder) view returns (bool)",
  "function isBlacklisted(address holder) view returns (bool)",
]);

/** A method of a token that takes nothing, or the address of a holder. */
export type TokenMethod = Exclude<(typeof TOKEN_ABI)[number]["name"], "transfer">;

/**
 * Configured contracts as `[currency, address]`, the address in its one spelling.
 *
 * @throws {RangeError} when one is no address
 */
export function contractEntries(contracts: TokenContracts): readonly [Currency, string][] {
  return CURRENCIES.flatMap((currency): [Currency, string][] => {
    const text = contracts[currency];
    if (text === undefined) return [];
    const address = evmAddress(text);
    if (address === null) {
      throw new RangeError(`Cannot use a token as its contract is no address: ${text}`);
    }
    return [[currency, address]];
  });
}

/** The call data of a token's transfer. */
export function transferData(to: string, units: bigint): `0x${string}` {
  return encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: "transfer",
    args: [to as `0x${string}`, units],
  });
}

/** The call data of one of a token's other methods. */
export function methodData(method: TokenMethod, holder?: string): `0x${string}` {
  return encodeFunctionData(
    {
      abi: TOKEN_ABI,
      functionName: method,
      args: holder === undefined ? [] : [holder as `0x${string}`],
      // the pairs of names and arguments are one by one right; together the compiler cannot tell
    } as Parameters<typeof encodeFunctionData>[0],
  );
}
