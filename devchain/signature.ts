/**
 * TRON signatures: 65 bytes r, s, v over the transaction id, secp256k1.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { addressOfPublicKey, type HexAddress } from "./address.ts";

type Signature = ReturnType<typeof secp256k1.Signature.fromBytes>;
type Point = ReturnType<Signature["recoverPublicKey"]>;

/** After so many signatures a signer is worth a table, which takes some 20 ms to make. */
const FREQUENT = 16;
/** Tables that are kept, some megabytes each: of hot wallets and who pays again and again. */
const KNOWN_SIGNERS = 8;
/** Signers that are counted. */
const NOTED_SIGNERS = 10_000;
/** Of the tables: larger ones take longer to make than they save. */
const WINDOW_BITS = 8;

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
  const parsed = parseSignature(signature);
  const key = parsed === null ? null : recoverKey(digest, parsed);
  return key === null ? null : addressOfPublicKey(key.toBytes(false));
}

/**
 * Finds who signed digests, most of which a few signers sign: to recover a key takes three times as
 * long as to see that a key which is known gives the same signature.
 */
export class SignerFinder {
  /** Keys of frequent signers; the library keeps their tables of multiples. */
  readonly #known = new Map<HexAddress, Point>();
  /** Numbers of signatures of others. */
  readonly #times = new Map<HexAddress, number>();

  /**
   * As {@linkcode recoverAddress}.
   *
   * @param expected signer that the transaction names, if any
   */
  find(digest: Uint8Array, signature: string, expected: HexAddress | null): HexAddress | null {
    const parsed = parseSignature(signature);
    if (parsed === null) return null;
    const known = expected === null ? undefined : this.#known.get(expected);
    if (known !== undefined && isBy(digest, parsed, known)) return expected;
    const key = recoverKey(digest, parsed);
    if (key === null) return null;
    const signer = addressOfPublicKey(key.toBytes(false));
    if (known === undefined && signer === expected) this.#count(signer, key);
    return signer;
  }

  #count(signer: HexAddress, key: Point): void {
    const times = (this.#times.get(signer) ?? 0) + 1;
    if (this.#times.size >= NOTED_SIGNERS) this.#times.clear();
    this.#times.set(signer, times);
    if (times < FREQUENT) return;
    this.#times.delete(signer);
    const oldest = this.#known.keys().next();
    if (this.#known.size >= KNOWN_SIGNERS && !oldest.done) this.#known.delete(oldest.value);
    this.#known.set(signer, key.precompute(WINDOW_BITS));
  }
}

/** r, s and which of the points with that r was meant; null when malformed. */
function parseSignature(signature: string): Signature | null {
  if (!/^[0-9a-f]{130}$/i.test(signature)) return null;
  const bytes = Uint8Array.fromHex(signature);
  const v = bytes[64] ?? 0;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery > 3) return null;
  const recovered = new Uint8Array(65);
  recovered[0] = recovery;
  recovered.set(bytes.subarray(0, 64), 1);
  try {
    return secp256k1.Signature.fromBytes(recovered, "recovered");
  } catch {
    // the library throws for r or s out of range: no signature
    return null;
  }
}

/** The key that signed; null when there is none. */
function recoverKey(digest: Uint8Array, signature: Signature): Point | null {
  try {
    return signature.recoverPublicKey(digest);
  } catch {
    // the library throws for points off the curve: no signer
    return null;
  }
}

/**
 * True if recovery would give this key Q. It gives Q = (sR - zG) / r for the point R that r and v
 * name (SEC 1, 4.1.6), so that is so just when (zG + rQ) / s is R.
 */
function isBy(digest: Uint8Array, { r, s, recovery }: Signature, key: Point): boolean {
  const { BASE, Fn } = secp256k1.Point;
  const z = Fn.create(BigInt(`0x${digest.toHex()}`));
  const inverse = Fn.inv(s);
  const point = BASE.multiplyUnsafe(Fn.mul(z, inverse))
    .add(key.multiplyUnsafe(Fn.mul(r, inverse)));
  if (recovery === undefined || point.is0()) return false;
  const { x, y } = point.toAffine();
  return x === r + (recovery < 2 ? 0n : Fn.ORDER) && Number(y & 1n) === (recovery & 1);
}
