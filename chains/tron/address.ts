/**
 * TRON addresses in their three forms: base58check text (`T...`, what people see), 21-byte hex
 * (`41...`, what the node's API takes) and 20-byte hex (what event logs carry).
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";

const base58check = createBase58check(sha256);

const PREFIX = 0x41;
const PAYLOAD_BYTES = 21;
/** With the checksum. */
const ADDRESS_BYTES = 25;
const ADDRESS_LENGTH = 34;
/** Digits of base58 by the codes of their characters. */
const DIGITS: readonly (number | undefined)[] = digitsByCode();
const LOG_FORM = /^[0-9a-f]{40}$/i;

function digitsByCode(): (number | undefined)[] {
  const digits: (number | undefined)[] = new Array(128).fill(undefined);
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  for (let digit = 0; digit < alphabet.length; digit++) digits[alphabet.charCodeAt(digit)] = digit;
  return digits;
}

/**
 * The text form of an address found in a log.
 *
 * @param hex 40 hex digits, without the `41` prefix
 * @throws {RangeError} when the text is anything else
 */
export function addressFromLogHex(hex: string): string {
  if (!LOG_FORM.test(hex)) {
    throw new RangeError(`Cannot encode an address as it is not 40 hex digits: ${hex}`);
  }
  return base58check.encode(Uint8Array.of(PREFIX, ...hexToBytes(hex)));
}

/**
 * The hex form that the node's API takes.
 *
 * @param address text form, for example `TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH`
 * @returns 42 lower-case hex digits starting with `41`
 * @throws {RangeError} when the text is not an address
 */
export function addressToHex(address: string): string {
  const payload = payloadOf(address);
  if (payload === null) {
    throw new RangeError(`Cannot read a TRON address as it is malformed: ${address}`);
  }
  return bytesToHex(payload);
}

/** The hex form that event logs carry: {@linkcode addressToHex} without the `41`. */
export function addressToLogHex(address: string): string {
  return addressToHex(address).slice(2);
}

/** The 21 bytes of an address, prefix first; `null` when the text is none. */
function payloadOf(text: string): Uint8Array | null {
  if (text.length !== ADDRESS_LENGTH || !text.startsWith("T")) return null;
  const bytes = bytesOf(text);
  if (bytes === null || bytes[0] !== PREFIX) return null;
  const payload = bytes.subarray(0, PAYLOAD_BYTES);
  const sum = sha256(sha256(payload));
  return bytes.subarray(PAYLOAD_BYTES).every((byte, i) => byte === sum[i]) ? payload : null;
}

/**
 * The 25 bytes that 34 digits of base58 are; `null` where one is no digit, or they are more bytes. Every
 * withdrawal has its destination checked: the library, which reads any base and length, took as long for
 * that as reading the whole request does.
 */
function bytesOf(text: string): Uint8Array | null {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  for (let i = 0; i < text.length; i++) {
    const digit = DIGITS[text.charCodeAt(i)];
    if (digit === undefined) return null;
    let carry = digit;
    for (let at = ADDRESS_BYTES - 1; at >= 0; at--) {
      carry += 58 * (bytes[at] ?? 0);
      bytes[at] = carry & 0xff;
      carry >>= 8;
    }
    if (carry > 0) return null;
  }
  return bytes;
}

/**
 * The one spelling of an address that a merchant may name: base58check with a right checksum. Other
 * spellings of the same bytes (`41...`, `0x...`) are none, so that one address has one text.
 *
 * @returns null where the text is no address
 */
export function tronAddress(text: string): string | null {
  return payloadOf(text) === null ? null : text;
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
