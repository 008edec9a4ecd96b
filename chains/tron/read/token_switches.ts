/**
 * Switches that issuers have built into their tokens: USDT can keep a fee, be paused, hand over to
 * another contract and block an address; USDC can be paused and block. A token without one of them
 * answers its call with a revert.
 *
 * @module
 */

import { ChainUnavailable, type TokenSwitches } from "../../chain.ts";
import { addressFromLogHex } from "../address.ts";
import { constantCall } from "./constant_call.ts";
import type { NodePool } from "../../nodes/node_pool.ts";

/** Names under which tokens tell whether an address is blocked. */
const BLOCKED = [
  "getBlackListStatus(address)",
  "isBlackListed(address)",
  "isBlacklisted(address)",
] as const;

/**
 * Reads the switches of a token.
 *
 * @param contract 42 hex digits
 * @param holder of whom it is asked whether the issuer has blocked it, 42 hex digits
 * @throws {ChainUnavailable} when a node does not answer
 */
export async function readTokenSwitches(
  pool: NodePool,
  contract: string,
  holder: string,
  signal?: AbortSignal,
): Promise<TokenSwitches> {
  const ask = (selector: string, parameter = "") =>
    wordOf(pool, { owner: holder, contract, selector, parameter }, signal);
  const holderWord = holder.slice(2).padStart(64, "0");
  const [paused, rate, most, deprecated, upgraded, ...blocked] = await Promise.all([
    ask("paused()"),
    ask("basisPointsRate()"),
    ask("maximumFee()"),
    ask("deprecated()"),
    ask("upgradedAddress()"),
    ...BLOCKED.map((selector) => ask(selector, holderWord)),
  ]);
  const isOn = (word: string | null = null) => word !== null && BigInt(`0x${word}`) !== 0n;
  return {
    isPaused: isOn(paused),
    // the fee is bounded by its most: a most of zero is no fee
    keepsPart: isOn(rate) && (most === null || isOn(most)),
    successor: isOn(deprecated) ? addressFromLogHex((upgraded ?? "0".repeat(64)).slice(24)) : null,
    isBlocked: blocked.some(isOn),
  };
}

/** The word that a token answers with; null where it has no such method. */
async function wordOf(
  pool: NodePool,
  call: Parameters<typeof constantCall>[1],
  signal?: AbortSignal,
): Promise<string | null> {
  try {
    const [word = ""] = (await constantCall(pool, call, "head", signal)).constant_result;
    // a contract that takes any call answers with nothing
    if (word === "") return null;
    if (word.length === 64) return word.toLowerCase();
    throw new ChainUnavailable(
      "malformed",
      `Cannot read ${call.selector} as it is no word: ${word}`,
    );
  } catch (error) {
    if (error instanceof ChainUnavailable && error.category === "reverted") return null;
    throw error;
  }
}
