/**
 * Keccak-256 for what is hashed by the thousand: a block of 300 receipts needs about 500 hashes of some 500
 * bytes each, for which WebAssembly takes a sixth of the time of @noble/hashes.
 *
 * @module
 */

import { createKeccak } from "hash-wasm";

const hasher = await createKeccak(256);

/** The 32 bytes of a hash. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}
