/**
 * TRON signatures: 65 bytes r, s, v over the transaction id, secp256k1.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { addressOfPublicKey, type HexAddress } from "./address.ts";

/** A key of the chain's own (faucet, block producer). */
export interface ChainKey {
  /** 32 bytes, hex. */
  readonly secret: string;
  readonly address: HexAddress;
}

/** A fresh random key. */
export function newKey(): ChainKey {
  return keyOf(secp256k1.utils.randomSecretKey().toHex());
}

/** The key with this secret. */
export function keyOf(secret: string): ChainKey {
  const publicKey = secp256k1.getPublicKey(Uint8Array.fromHex(secret), false);
  return { secret, address: addressOfPublicKey(publicKey) };
}

/**
 * Signs a 32-byte digest.
 *
 * @returns 65 bytes as hex, `v` being 1b or 1c
 */
export function signDigest(digest: Uint8Array, key: ChainKey): string {
  const signature = secp256k1.sign(digest, Uint8Array.fromHex(key.secret), {
    prehash: false,
    format: "recovered",
  });
  const v = 27 + (signature[0] ?? 0);
  return signature.subarray(1).toHex() + v.toString(16).padStart(2, "0");
}

/**
 * Finds who signed a digest.
 *
 * @param signature 65 bytes as hex; `v` as 0, 1, 27 or 28
 * @returns the signer's address, or null when the signature is malformed
 */
export function recoverAddress(digest: Uint8Array, signature: string): HexAddress | null {
  if (!/^[0-9a-f]{130}$/i.test(signature)) return null;
  const bytes = Uint8Array.fromHex(signature);
  const v = bytes[64] ?? 0;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery > 3) return null;
  const recovered = new Uint8Array(65);
  recovered[0] = recovery;
  recovered.set(bytes.subarray(0, 64), 1);
  try {
    const point = secp256k1.Signature.fromBytes(recovered, "recovered").recoverPublicKey(digest);
    return addressOfPublicKey(point.toBytes(false));
  } catch {
    // The library throws for r or s out of range and for points off the curve: no signer.
    return null;
  }
}
