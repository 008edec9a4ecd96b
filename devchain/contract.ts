/**
 * Contracts in the chain's state, and the part of Solidity's ABI that a TRC-20 token needs. There is no
 * virtual machine: a contract is one of two built-in kinds, a TRC-20 token or the faucet's script.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";
import type { Overlay, StateReader } from "./overlay.ts";

/** Topic 0 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Topic 0 of `Approval(address,address,uint256)`. */
export const APPROVAL_TOPIC = "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";

/** A number as one word of 64 hex digits. */
export function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

/** An address as one word: its last 20 bytes. */
export function addressWord(address: HexAddress): string {
  return address.slice(-40).padStart(64, "0");
}

/**
 * One argument of a call.
 *
 * @param data hex, selector first
 * @param index counting from 0
 * @returns the word, or null when the data is too short
 */
export function argument(data: string, index: number): string | null {
  const word = data.slice(8 + index * 64, 72 + index * 64);
  return word.length === 64 ? word : null;
}

/** The address in a word; the high bytes are ignored, as TRON's virtual machine does. */
export function addressOfWord(word: string): HexAddress {
  return "41" + word.slice(24);
}

/** The number in a word. */
export function numberOfWord(word: string): bigint {
  return BigInt("0x" + word);
}

/** A string as return data. */
export function stringOutput(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = bytes.toHex().padEnd(Math.ceil(bytes.length / 32) * 64, "0");
  return wordOf(32n) + wordOf(BigInt(bytes.length)) + padded;
}

/** A TRC-20 token. */
export interface TokenContract {
  readonly kind: "token";
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Whole supply in the token's smallest unit, decimal text. */
  readonly supply: string;
  readonly origin: HexAddress;
  /** Result of `transfer`: TRON's USDT moves the money and returns false. */
  readonly transferReturns: boolean;
  /** Fee of the contract's own, in 1/10,000 of the amount, taken from what the receiver gets. */
  readonly feeBasisPoints: number;
  /** Switches of its issuer (see token_switches.ts); absent: as usual. */
  readonly maximumFee?: string;
  readonly paused?: boolean;
  readonly upgradedTo?: HexAddress | null;
  readonly blocked?: readonly HexAddress[];
}

/** The contract that carries out a list of steps for the faucet (see script.ts). */
export interface ScriptContract {
  readonly kind: "script";
  readonly origin: HexAddress;
}

/** Any contract. */
export type Contract = TokenContract | ScriptContract;

/** One log of a receipt. */
export interface Log {
  /** 20 bytes as hex, without `41`. */
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Result of a call. */
export type CallResult =
  | {
    readonly ok: true;
    readonly output: string;
    readonly energy: number;
    /** The part of `energy` that dynamic pricing added. */
    readonly penalty: number;
    readonly logs: readonly Log[];
  }
  | { readonly ok: false; readonly output: string; readonly energy: number };

/** The contract at an address. */
export function readContract(state: StateReader, address: HexAddress): Contract | null {
  const text = state.get(`contract/${address}`);
  return text === undefined ? null : JSON.parse(text);
}

/** Stores a contract. */
export function writeContract(state: Overlay, address: HexAddress, contract: Contract): void {
  state.set(`contract/${address}`, JSON.stringify(contract));
}
