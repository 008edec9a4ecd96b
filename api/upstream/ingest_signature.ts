/**
 * Signatures of trusted upstream systems: hex HMAC-SHA256 of the JSON body with its keys sorted on
 * every level and its arrays in their order.
 *
 * @module
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** The most that a timestamp may differ from the service's clock, milliseconds. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * The text that is signed. Written by hand, because an object of JavaScript puts names that look
 * like numbers first, whatever order they are given in.
 *
 * @param value a JSON value; nested no deeper than the reader of bodies lets through
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`);
  return `{${fields.join(",")}}`;
}

/** True where a signature is that of a body. */
export function isSigned(body: unknown, signature: string | null, secret: string): boolean {
  if (signature === null || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac("sha256", secret).update(canonicalJson(body)).digest();
  return timingSafeEqual(expected, Uint8Array.fromHex(signature));
}

/** True where a timestamp (Unix milliseconds) is recent enough. */
export function isRecent(timestamp: string | null, now: number): boolean {
  if (timestamp === null || !/^\d{1,15}$/.test(timestamp)) return false;
  return Math.abs(now - Number(timestamp)) <= TOLERANCE_MS;
}

/** SHA-256 of a body in lowercase hex, the same however its keys are ordered. */
export function bodyHash(body: unknown): string {
  return createHash("sha256").update(canonicalJson(body)).digest("hex");
}
