/**
 * The text of API keys: `sk_<environment>_<43 base62 digits><6 base62 digits>`. The 43 digits are
 * 256 random bits, the last 6 a CRC-32 of everything before them, so that a mistyped or invented
 * key is told apart without asking the database and secret scanners make no false finds.
 *
 * @module
 */

import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Where a key is valid. */
export const ENVIRONMENTS = ["development", "staging", "production"] as const;

/** One of {@linkcode ENVIRONMENTS}. */
export type Environment = (typeof ENVIRONMENTS)[number];

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
const RANDOM_DIGITS = 43;
const CHECK_DIGITS = 6;

const SHAPE = /^sk_(development|staging|production)_[0-9A-Za-z]{49}$/;

/** Finds keys in text, for secret scanners. */
export const KEY_PATTERN = /\bsk_(?:development|staging|production)_[0-9A-Za-z]{49}\b/;

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits.padStart(length, "0");
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECK_DIGITS);
}

/** A new key. It is shown once and never stored; {@linkcode hashApiKey} is. */
export function mintApiKey(environment: Environment): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const body = `sk_${environment}_${base62(random, RANDOM_DIGITS)}`;
  return body + checksum(body);
}

/**
 * The environment a key is made for.
 *
 * @returns null when the text is no key: wrong shape or wrong check digits
 */
export function parseApiKey(text: string): Environment | null {
  const match = SHAPE.exec(text);
  if (match === null) return null;
  const body = text.slice(0, -CHECK_DIGITS);
  if (checksum(body) !== text.slice(-CHECK_DIGITS)) return null;
  return match[1] as Environment;
}

/** SHA-256 of a key in lowercase hex; a fast hash is enough for 256 random bits. */
export function hashApiKey(text: string): string {
  return hash("sha256", text, "hex");
}
