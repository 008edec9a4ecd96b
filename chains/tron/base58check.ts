/**
 * Base58Check of 21-byte payloads, the text form of TRON addresses.
 *
 * Written for this one length because a block of 300 transfers holds 600 addresses: limbs instead
 * of one big integer make it several times faster than a general encoder.
 *
 * @module
 */

import { doubleSha256Checksum } from "./double_sha256.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PAYLOAD_BYTES = 21;
const CHECKSUM_BYTES = 4;
const TOTAL_BYTES = PAYLOAD_BYTES + CHECKSUM_BYTES;
const LONGEST_TEXT = 35;
/** Four characters per long division; 58^4 x 2^24 still is an exact double. */
const CHUNK = 58 ** 4;
const CHUNKS = 9;
const LIMB_BASE = 2 ** 24;
const LIMBS = 9;
/** Character code of the digit 0. */
const ONE = 0x31;
const PAIR = 58 ** 2;
/** All two-character texts in the order of their value. */
const PAIRS = Array.from(ALPHABET).flatMap((a) => Array.from(ALPHABET, (b) => a + b));

const valueOf = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) valueOf[ALPHABET.charCodeAt(i)] = i;

const digitOf = new Int8Array(128).fill(-1);
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16);
  digitOf[digit.charCodeAt(0)] = i;
  digitOf[digit.toUpperCase().charCodeAt(0)] = i;
}

/** Working space: all functions run to their end without waiting. */
const bytes = new Uint8Array(TOTAL_BYTES);
const payloadBytes = bytes.subarray(0, PAYLOAD_BYTES);
const limbs = new Float64Array(LIMBS);

/**
 * Encodes a payload with its checksum.
 *
 * @param payload exactly 21 bytes
 * @returns at most 35 characters
 * @throws {RangeError} when the payload has another length
 */
export function encodeBase58Check(payload: Uint8Array): string {
  if (payload.length !== PAYLOAD_BYTES) {
    throw new RangeError(`Cannot encode an address as it is not 21 bytes: ${payload.length}`);
  }
  payloadBytes.set(payload);
  return encodeWorkingSpace();
}

/**
 * The same for hex text, without a copy of its bytes: a block of 300 transfers has 300 receivers.
 *
 * @param hex exactly 42 digits
 * @throws {RangeError} when the text is anything else
 */
export function encodeHexBase58Check(hex: string): string {
  if (hex.length !== 2 * PAYLOAD_BYTES) {
    throw new RangeError(`Cannot encode an address as it is not 42 hex digits: ${hex}`);
  }
  for (let i = 0; i < PAYLOAD_BYTES; i++) {
    const high = digitOf[hex.charCodeAt(2 * i)] ?? -1;
    const low = digitOf[hex.charCodeAt(2 * i + 1)] ?? -1;
    if (high < 0 || low < 0) {
      throw new RangeError(`Cannot encode an address as it is not 42 hex digits: ${hex}`);
    }
    payloadBytes[i] = high * 16 + low;
  }
  return encodeWorkingSpace();
}

/** The text of what is in {@linkcode payloadBytes}. */
function encodeWorkingSpace(): string {
  const checksum = doubleSha256Checksum(payloadBytes);
  for (let i = 0; i < CHECKSUM_BYTES; i++) bytes[PAYLOAD_BYTES + i] = checksum >> (24 - 8 * i);
  // 25 bytes: one in the first limb, three in each of the others.
  limbs[0] = bytes[0] as number;
  for (let i = 1; i < LIMBS; i++) {
    const at = 3 * i - 2;
    limbs[i] = (bytes[at] as number) * 65536 + (bytes[at + 1] as number) * 256 +
      (bytes[at + 2] as number);
  }
  let text = "";
  let first = 0;
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    let remainder = 0;
    for (let i = first; i < LIMBS; i++) {
      const value = remainder * LIMB_BASE + (limbs[i] as number);
      const quotient = Math.floor(value / CHUNK);
      limbs[i] = quotient;
      remainder = value - quotient * CHUNK;
    }
    while (first < LIMBS && limbs[first] === 0) first++;
    const high = Math.floor(remainder / PAIR);
    text = (PAIRS[high] as string) + (PAIRS[remainder - high * PAIR] as string) + text;
  }
  let digits = 0;
  while (text.charCodeAt(digits) === ONE) digits++;
  let zeros = 0;
  while (zeros < TOTAL_BYTES && bytes[zeros] === 0) zeros++;
  return zeros === 0 ? text.slice(digits) : "1".repeat(zeros) + text.slice(digits);
}

/**
 * Decodes a text and checks its checksum.
 *
 * @returns the 21-byte payload, or `null` when the text is not one
 */
export function decodeBase58Check(text: string): Uint8Array | null {
  if (text.length > LONGEST_TEXT) return null;
  bytes.fill(0);
  for (let i = 0; i < text.length; i++) {
    let carry = valueOf[text.charCodeAt(i)] ?? -1;
    if (carry < 0) return null;
    for (let j = TOTAL_BYTES - 1; j >= 0; j--) {
      carry += (bytes[j] as number) * 58;
      bytes[j] = carry & 0xff;
      carry >>= 8;
    }
    if (carry !== 0) return null;
  }
  const checksum = doubleSha256Checksum(payloadBytes);
  for (let i = 0; i < CHECKSUM_BYTES; i++) {
    if (bytes[PAYLOAD_BYTES + i] !== ((checksum >> (24 - 8 * i)) & 0xff)) return null;
  }
  return payloadBytes.slice();
}
