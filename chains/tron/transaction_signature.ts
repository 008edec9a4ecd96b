/**
 * Signatures over TRON transaction ids.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

/**
 * Signs a transaction id, deterministically (RFC 6979).
 *
 * @param txid 64 hex digits
 * @param privateKey 32 bytes
 * @returns 130 hex digits: r, s, then recovery 1b or 1c
 */
export function signTransactionId(txid: string, privateKey: Uint8Array): string {
  const signature = secp256k1.sign(hexToBytes(txid), privateKey, {
    prehash: false,
    format: "recovered",
  });
  const recovery = 27 + (signature[0] as number);
  return bytesToHex(signature.subarray(1)) + recovery.toString(16).padStart(2, "0");
}
