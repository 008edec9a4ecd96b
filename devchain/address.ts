/**
 * TRON addresses: 21 bytes beginning with 0x41, written as 42 hex digits inside the node and as
 * base58check outside.
 *
 * @module
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";

const base58check = createBase58check(sha256);
const HEX_SHAPE = /^41[0-9a-f]{40}$/;

/** An address as 42 lower-case hex digits, `41` first. */
export type HexAddress = string;

/** True if the text is an address as lower-case hex with the `41` prefix. */
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
  return base58check.encode(Uint8Array.fromHex(hex));
}

/**
 * Reads an address as people write it.
 *
 * @param text base58check
 * @returns 42 hex digits, or null when alphabet, length, prefix or checksum are wrong
 */
export function fromBase58(text: string): HexAddress | null {
  if (text.length !== 34) return null;
  try {
    const address = base58check.decode(text).toHex();
    return isHexAddress(address) ? address : null;
  } catch {
    return null;
  }
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
