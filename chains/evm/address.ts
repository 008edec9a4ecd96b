/**
 * Addresses of Ethereum and of chains that have its own: 20 bytes, written as `0x` and 40 digits whose case
 * is a checksum (EIP-55). Event logs carry the same bytes, here as 40 lower-case digits.
 *
 * The checksum is written here, in a dozen lines that a test holds to viem and ethers: every address of
 * every network passes through a family, and importing viem for it takes 0.2 s and 10 MB that a service
 * of TRON alone would pay.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

const TEXT = /^0x[0-9a-fA-F]{40}$/;
const EVENT_FORM = /^[0-9a-f]{40}$/;
/**
 * Addresses up to this one have no key: precompiled contracts (the last one is 0x100), the system's contracts of BNB Smart Chain
 * (0x1000 to 0x3000), and those that people burn at (0xdead).
 */
const LAST_KEPT = 0xffffn;
/** Contracts and names of the protocol that take tokens in and give none back. */
const LOST = new Set([
  // the deposits of validators
  "00000000219ab540356cbb839cbe05303d7705fa",
  // EIP-2935, EIP-4788, EIP-7002 and EIP-7251
  "0000f90827f1c53a10cb7a02335b175320002935",
  "000f3df6d732807ef1319fb7b8bb8522d0beac02",
  "00000961ef480eb55e80d19ad83579a64c007002",
  "0000bbddc7ce488642fb579f8b00f3a590007251",
  // the sender of what the protocol itself calls
  "fffffffffffffffffffffffffffffffffffffffe",
  "ffffffffffffffffffffffffffffffffffffffff",
]);

/** The checksummed text of 40 lower-case digits. */
function checksummed(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  let text = "0x";
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charAt(i);
    text += hash.charAt(i) >= "8" ? digit.toUpperCase() : digit;
  }
  return text;
}

/** The 40 lower-case digits of a well-formed address; null for any other text. */
function digitsOf(text: string): string | null {
  if (!TEXT.test(text)) return null;
  const written = text.slice(2);
  const digits = written.toLowerCase();
  // of one case alone it carries no checksum
  if (written === digits || written === written.toUpperCase()) return digits;
  return checksummed(digits) === text ? digits : null;
}

/**
 * The one spelling of an address that may be a destination: checksummed. A text of mixed case whose
 * checksum is wrong is none, as one of its characters is. Nor are the zero address, precompiled
 * contracts and those of the protocol, from which nothing comes back.
 *
 * @returns null where the text is no such address
 */
export function evmAddress(text: string): string | null {
  const digits = digitsOf(text);
  if (digits === null || LOST.has(digits) || BigInt(`0x${digits}`) <= LAST_KEPT) return null;
  return checksummed(digits);
}

/**
 * The text of an address as events carry it.
 *
 * @param digits 40 lower-case digits
 * @throws {RangeError} when they are anything else
 */
export function addressOfEvent(digits: string): string {
  if (EVENT_FORM.test(digits)) return checksummed(digits);
  throw new RangeError(`Cannot encode an address as it is not 40 hex digits: ${digits}`);
}

/**
 * An address as events carry it: 40 lower-case digits.
 *
 * @throws {RangeError} when the text is no address
 */
export function eventAddress(text: string): string {
  const digits = digitsOf(text);
  if (digits !== null) return digits;
  throw new RangeError(`Cannot read an address as it is malformed: ${text}`);
}

/**
 * The address of a key: the last 20 bytes of Keccak-256 over the uncompressed point.
 *
 * @param publicKey secp256k1 public key, 33 bytes compressed or 65 bytes uncompressed
 */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return checksummed(bytesToHex(keccak_256(point.subarray(1)).subarray(-20)));
}
