/**
 * HMAC-SHA256 (RFC 2104) of two one-shot hashes. node:crypto's own `createHmac` builds a stream for
 * every signature, which takes twice as long as all the rest of it: 18 us against 8 for a payload.
 *
 * @module
 */

import { hash } from "node:crypto";

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

const encoder = new TextEncoder();

/** UTF-8 needs at most so many bytes for one unit of a string. */
const BYTES_PER_UNIT = 3;

/** The padded key and what follows it; used within one call only. */
let inner = new Uint8Array(4_096);
const outer = new Uint8Array(BLOCK_BYTES + HASH_BYTES);

/**
 * The HMAC-SHA256 of a text's UTF-8 bytes.
 *
 * @param key of any length
 */
export function hmacSha256(key: Uint8Array, message: string, encoding: "hex" | "base64"): string {
  const most = BLOCK_BYTES + message.length * BYTES_PER_UNIT;
  if (inner.length < most) inner = new Uint8Array(most);
  const block = key.length > BLOCK_BYTES ? hash("sha256", key, "buffer") : key;
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = block[i] ?? 0;
    inner[i] = byte ^ INNER_PAD;
    outer[i] = byte ^ OUTER_PAD;
  }
  const { written } = encoder.encodeInto(message, inner.subarray(BLOCK_BYTES));
  outer.set(hash("sha256", inner.subarray(0, BLOCK_BYTES + written), "buffer"), BLOCK_BYTES);
  return hash("sha256", outer, encoding);
}
