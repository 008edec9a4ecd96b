/**
 * Keccak-256 for what is hashed by the thousand: a block of 300 receipts needs about 500 hashes of some 500
 * bytes each, for which WebAssembly takes a sixth of the time of @noble/hashes.
 *
 * @module
 */

import { createKeccak } from "hash-wasm";
import type { Slices } from "../../nodes/slices.ts";

const hasher = await createKeccak(256);

/** The 32 bytes of a hash. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}

/** Bytes that are hashed in one go: two milliseconds of work. */
const SLICE_BYTES = 256 * 1024;

/** The same of bytes that may be many. */
export async function keccakInSlices(bytes: Uint8Array, slices: Slices): Promise<Uint8Array> {
  if (bytes.length <= SLICE_BYTES) return keccak(bytes);
  // others hash while this one rests
  const own = (await createKeccak(256)).init();
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    own.update(bytes.subarray(at, at + SLICE_BYTES));
    await slices.rest();
  }
  return own.digest("binary");
}
