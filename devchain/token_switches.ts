/**
 * Switches that issuers of real tokens have: a fee, a pause, a successor, blocked holders. A token is
 * switched by a step of the faucet's script, so by a transaction like anything else.
 *
 * @module
 */

import { addressOfWord, addressWord, argument, wordOf } from "./abi.ts";
import { type HexAddress, isHexAddress } from "./address.ts";
import { readContract, type TokenContract, writeContract } from "./contract.ts";
import type { Overlay } from "./overlay.ts";

/** The switches that are set; an absent field stays as it is. */
export interface TokenSwitchStep {
  readonly do: "switch";
  readonly token: HexAddress;
  readonly paused?: boolean;
  readonly feeBasisPoints?: number;
  /** In the token's smallest unit, decimal text. */
  readonly maximumFee?: string;
  /** The contract that takes its place; null: none. */
  readonly upgradedTo?: HexAddress | null;
  /** All addresses that can send nothing of it. */
  readonly blocked?: readonly HexAddress[];
}

/** Carries out a step; false where there is no such token. */
export function switchToken(state: Overlay, step: TokenSwitchStep): boolean {
  const { do: _do, token, ...switched } = step;
  const contract = readContract(state, token);
  if (contract?.kind !== "token") return false;
  writeContract(state, token, { ...contract, ...switched });
  return true;
}

/** True where call data that the faucet signed is a step of this kind. */
export function isSwitchStep(step: ReadonlyMap<string, unknown>): boolean {
  const optional = (name: string, is: (value: unknown) => boolean) =>
    !step.has(name) || is(step.get(name));
  const isAddress = (value: unknown) => typeof value === "string" && isHexAddress(value);
  return isAddress(step.get("token")) &&
    optional("paused", (value) => typeof value === "boolean") &&
    optional("feeBasisPoints", Number.isInteger) &&
    optional("maximumFee", (value) => /^\d{1,78}$/.test(String(value))) &&
    optional("upgradedTo", (value) => value === null || isAddress(value)) &&
    optional("blocked", (value) => Array.isArray(value) && value.every(isAddress));
}

/** Fee that the receiver of a transfer of so much bears. */
export function feeOf(
  { feeBasisPoints, maximumFee }: TokenContract,
  value: bigint,
): bigint {
  const fee = value * BigInt(feeBasisPoints) / 10_000n;
  return maximumFee === undefined || fee < BigInt(maximumFee) ? fee : BigInt(maximumFee);
}

/** True for a holder that cannot send now. */
export function isHeld({ paused, blocked }: TokenContract, holder: HexAddress): boolean {
  return paused === true || blocked?.includes(holder) === true;
}

/** The word with which the token answers a question about its switches; null: it is another call. */
export function switchWord(contract: TokenContract, data: string): string | null {
  const flag = (on: boolean) => wordOf(on ? 1n : 0n);
  switch (data.slice(0, 8)) {
    case "5c975abb": // paused()
      return flag(contract.paused === true);
    case "dd644f72": // basisPointsRate()
      return wordOf(BigInt(contract.feeBasisPoints));
    case "35390714": // maximumFee()
      return wordOf(BigInt(contract.maximumFee ?? 10n ** 12n));
    case "0e136b19": // deprecated()
      return flag(typeof contract.upgradedTo === "string");
    case "26976e3f": // upgradedAddress()
      return addressWord(contract.upgradedTo ?? "41".padEnd(42, "0"));
    case "59bf1abe": // getBlackListStatus(address)
    case "e47d6060": { // isBlackListed(address)
      const holder = argument(data, 0);
      return flag(holder !== null && contract.blocked?.includes(addressOfWord(holder)) === true);
    }
    default:
      return null;
  }
}
