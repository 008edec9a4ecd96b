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
import { addressChecksum } from "./checksum.ts";

const base58check = createBase58check(sha256);

const PREFIX = 0x41;
const PAYLOAD_BYTES = 21;
/** An address that begins with so many bytes, all zero but the prefix, is no key's. */
const KEPT_BYTES = 17;
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
  return addressChecksum(bytes) === numberAt(bytes, PAYLOAD_BYTES)
    ? bytes.subarray(0, PAYLOAD_BYTES)
    : null;
}

/** True for the zero address and those of the chain's own programs: no key has one, and what is sent there is lost. */
function isKept(payload: Uint8Array): boolean {
  return payload.subarray(1, KEPT_BYTES).every((byte) => byte === 0);
}

/** Four bytes as one number of 32 bits without a sign. */
function numberAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a << 24 | b << 16 | c << 8 | d) >>> 0;
}

/** The number that is being read, in words of 16 bits, the highest first; one thread, one text at a time. */
const words = new Int32Array(13);

/**
 * The 25 bytes that 34 digits of base58 are; `null` where one is no digit, or they are more bytes. Every
 * withdrawal has its destination checked: the library, which reads any base and length, took as long for
 * that as reading the whole request does. Two digits are added at a time: a word's product with 58 * 58 is
 * a whole number of 32 bits.
 */
function bytesOf(text: string): Uint8Array | null {
  words.fill(0);
  for (let at = 0; at < ADDRESS_LENGTH; at += 2) {
    const high = DIGITS[text.charCodeAt(at)];
    const low = DIGITS[text.charCodeAt(at + 1)];
    if (high === undefined || low === undefined) return null;
    let carry = 58 * high + low;
    for (let word = words.length - 1; word >= 0; word--) {
      carry += Math.imul(words[word] ?? 0, 58 * 58);
      words[word] = carry & 0xffff;
      carry >>= 16;
    }
  }
  // the first word has the first byte alone; no 34 digits are more than what all words hold
  if ((words[0] ?? 0) > 0xff) return null;
  const bytes = new Uint8Array(ADDRESS_BYTES);
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    const word = words[i + 1 >> 1] ?? 0;
    bytes[i] = i % 2 === 0 ? word : word >> 8;
  }
  return bytes;
}

/**
 * The one spelling of an address that a merchant may name: base58check with a right checksum. Other
 * spellings of the same bytes (`41...`, `0x...`) are none, so that one address has one text. Nor are the zero
 * address and those of the chain's own programs.
 *
 * @returns null where the text is no such address
 */
export function tronAddress(text: string): string | null {
  const payload = payloadOf(text);
  return payload === null || isKept(payload) ? null : text;
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
