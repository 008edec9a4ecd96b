/**
 * Solidity's ABI, as far as a TRC-20 token needs it.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";

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
