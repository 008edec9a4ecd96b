/**
 * Switches that issuers have built into their tokens: USDT can keep a fee, be paused, hand over to another
 * contract and block an address; USDC can be paused and block. A token without one of them answers
 * its call with a revert, or with nothing.
 *
 * @module
 */

import { ChainUnavailable, type TokenSwitches } from "../../chain.ts";
import { addressOfEvent } from "../address.ts";
import { methodData, type TokenMethod } from "../token_contracts.ts";
import { bytesSchema } from "./answers.ts";
import { contractCall } from "./contract_call.ts";
import { type EvmSource, rpc } from "./source.ts";

/** Names under which tokens tell whether an address is blocked. */
const BLOCKED = ["getBlackListStatus", "isBlackListed", "isBlacklisted"] as const;
const OWN = ["paused", "basisPointsRate", "maximumFee", "deprecated", "upgradedAddress"] as const;
const WORD = /^0x[0-9a-f]{64}$/i;

/**
 * Reads the switches of a token, as its newest block has them.
 *
 * @param holder of whom it is asked whether the issuer has blocked it
 * @throws {ChainUnavailable} when a node does not answer
 */
export async function readTokenSwitches(
  { pool }: EvmSource,
  contract: string,
  holder: string,
  signal?: AbortSignal,
): Promise<TokenSwitches> {
  const methods: readonly TokenMethod[] = [...OWN, ...BLOCKED];
  const calls = methods.map((method) =>
    contractCall(
      contract,
      methodData(method, BLOCKED.some((name) => name === method) ? holder : undefined),
      "latest",
    )
  );
  const words = await pool.read(async (node, bound) => {
    const answers = await rpc.askAll(node, calls, bytesSchema, bound);
    return answers.map((answer, i) => wordOf(answer, methods[i] ?? ""));
  }, { signal });
  const [paused, rate, most, deprecated, upgraded, ...blocked] = words;
  const isOn = (word: string | null = null) => word !== null && BigInt(word) !== 0n;
  return {
    isPaused: isOn(paused),
    // the fee is bounded by its most: a most of zero is no fee
    keepsPart: isOn(rate) && (most === null || isOn(most)),
    successor: isOn(deprecated)
      ? addressOfEvent((upgraded ?? "0".repeat(66)).slice(26).toLowerCase())
      : null,
    isBlocked: blocked.some(isOn),
  };
}

/** The word that a token answers with; null where it has no such method. */
function wordOf(answer: string | ChainUnavailable, method: string): string | null {
  if (answer instanceof ChainUnavailable) {
    if (answer.category === "reverted") return null;
    throw answer;
  }
  // a contract that takes any call answers with nothing
  if (answer === "0x") return null;
  if (WORD.test(answer)) return answer;
  throw new ChainUnavailable("malformed", `Cannot read ${method} as it is no word: ${answer}`);
}
