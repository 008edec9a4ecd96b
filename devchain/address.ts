/**
 * TRON addresses: 21 bytes beginning with 0x41, written as 42 hex digits inside the node and as
 * base58check outside.
 *
 * @module
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGIT = new Map([...ALPHABET].map((letter, digit) => [letter, BigInt(digit)]));
const HEX_SHAPE = /^41[0-9a-f]{40}$/;

/** An address as 42 lower-case hex digits, `41` first. */
export type HexAddress = string;

/** Whether the text is an address as lower-case hex with the `41` prefix. */
export function isHexAddress(text: string): text is HexAddress {
  return HEX_SHAPE.test(text);
}

/**
 * Writes an address for people.
 *
 * @param hex 42 hex digits, `41` first
 * @returns base58check, 34 characters beginning with `T`
 */
export function toBase58(hex: HexAddress): string {
  const payload = Uint8Array.fromHex(hex);
  const checksum = sha256(sha256(payload)).subarray(0, 4);
  let rest = BigInt("0x" + hex + checksum.toHex());
  let text = "";
  while (rest > 0n) {
    text = ALPHABET[Number(rest % 58n)] + text;
    rest /= 58n;
  }
  return text;
}

/**
 * Reads an address as people write it.
 *
 * @param text base58check
 * @returns 42 hex digits, or null when alphabet, length, prefix or checksum are wrong
 */
export function fromBase58(text: string): HexAddress | null {
  if (text.length !== 34) return null;
  let value = 0n;
  for (const letter of text) {
    const digit = DIGIT.get(letter);
    if (digit === undefined) return null;
    value = value * 58n + digit;
  }
  const hex = value.toString(16);
  if (hex.length !== 50) return null;
  const address = hex.slice(0, 42);
  if (!isHexAddress(address)) return null;
  const checksum = sha256(sha256(Uint8Array.fromHex(address))).subarray(0, 4);
  return checksum.toHex() === hex.slice(42) ? address : null;
}

/**
 * The address of a public key.
 *
 * @param publicKey 65 bytes, uncompressed, first byte 4
 */
export function addressOfPublicKey(publicKey: Uint8Array): HexAddress {
  return "41" + keccak_256(publicKey.subarray(1)).subarray(12).toHex();
}

/**
 * The address a contract gets when it is created: the last 20 bytes of the hash over transaction id
 * and creator (java-tron, `Util.generateContractAddress`).
 *
 * @param txid 64 hex digits
 */
export function contractAddress(txid: string, creator: HexAddress): HexAddress {
  return "41" + keccak_256(Uint8Array.fromHex(txid + creator)).subarray(12).toHex();
}
