/**
 * TRON addresses in their three forms: base58check text (`T...`, what people see), 21-byte hex
 * (`41...`, what the node's API takes) and 20-byte hex (what event logs carry).
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeBase58Check, encodeHexBase58Check } from "./base58check.ts";

const PREFIX = 0x41;
const PREFIX_HEX = "41";
const ADDRESS_LENGTH = 34;
/**
 * The text form of an address found in a log.
 *
 * @param hex 40 lower-case hex digits, without the `41` prefix
 */
export function addressFromLogHex(hex: string): string {
  return encodeHexBase58Check(PREFIX_HEX + hex);
}

/**
 * The hex form that the node's API takes.
 *
 * @param address text form, for example `TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH`
 * @returns 42 lower-case hex digits starting with `41`
 * @throws {RangeError} when the text is not an address
 */
export function addressToHex(address: string): string {
  const payload = isAddressText(address) ? decodeBase58Check(address) : null;
  if (payload === null || payload[0] !== PREFIX) {
    throw new RangeError(`Cannot read a TRON address as it is malformed: ${address}`);
  }
  return bytesToHex(payload);
}

/** The hex form that event logs carry: {@linkcode addressToHex} without the `41`. */
export function addressToLogHex(address: string): string {
  return addressToHex(address).slice(2);
}

/** Whether the text has an address's outer shape; its checksum is not looked at. */
function isAddressText(text: string): boolean {
  return text.length === ADDRESS_LENGTH && text.startsWith("T");
}

/**
 * Whether the text is an address a merchant may name: base58check with a right checksum. Other
 * spellings of the same bytes (`41...`, `0x...`) are refused, so that one address has one text.
 */
export function isTronAddress(text: string): boolean {
  if (!isAddressText(text)) return false;
  return decodeBase58Check(text)?.[0] === PREFIX;
}

/**
 * The address of a key: the last 20 bytes of Keccak-256 over the uncompressed point.
 *
 * @param publicKey secp256k1 public key, 33 bytes compressed or 65 bytes uncompressed
 */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return addressFromLogHex(bytesToHex(keccak_256(point.subarray(1)).subarray(-20)));
}
