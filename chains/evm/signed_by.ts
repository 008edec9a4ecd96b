/**
 * Facts that the bytes of a signed transaction prove of themselves: its id, its sender, the sender's number (nonce), and
 * that it moves nothing. No node is believed in any of it. A signature that is known can be written in other bytes, by anyone and without the key, and
 * these have another id: only the one spelling counts that a block may hold.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import { fromRlp, keccak256, toRlp } from "viem/utils";
import type { SignedBy } from "../signer.ts";
import { addressOfPublicKey } from "./address.ts";

type Hex = `0x${string}`;
/** A field: bytes, or a list of fields. */
type Field = Parameters<typeof toRlp>[0];

/** Types whose fields begin with chain and nonce and end with the signature: EIP-2930, 1559, 4844 and 7702. */
const TYPED = /^0x0[1-4]/;
/** The type that the service's signers give transfers of nothing: EIP-1559. */
const PRICED = "0x02";
/** Places of receiver, value and data in it. */
const CALL = [5, 8] as const;
/** A transaction without a type is one list of nine fields. */
const UNTYPED = /^0x[c-f]/;
const UNTYPED_FIELDS = 9;
/** Fields of an untyped transaction before its signature. */
const UNTYPED_SIGNED = 6;
/** `v` of an untyped transaction is so much and twice its chain's number (EIP-155), and one more for odd points. */
const PROTECTED = 35n;
/** `v` of one that names no chain, and one more for odd points. */
const UNPROTECTED = 27n;
/** Half of the curve's order: a block holds no signature whose `s` is above it (EIP-2). */
const LARGEST_S = secp256k1.Point.CURVE().n / 2n;
const BYTES = /^0x([0-9a-f]{2})+$/;

/** A field's number. */
function numberOf(field: unknown): bigint {
  if (typeof field !== "string") throw new RangeError("a number is a list");
  return field === "0x" ? 0n : BigInt(field);
}

function listOf(bytes: Hex): Field[] {
  const list = fromRlp(bytes, "hex");
  if (typeof list === "string") throw new RangeError("it is no list");
  return [...list] as Field[];
}

/** The text that is signed, and its signature. */
interface Parts {
  readonly nonce: bigint;
  /** Null: it names none, and counts on every chain. */
  readonly chainId: bigint | null;
  /** Receiver, value and data; null: its type is none that transfers of nothing have. */
  readonly call: readonly Field[] | null;
  readonly signed: Hex;
  readonly isOdd: boolean;
  readonly r: bigint;
  readonly s: bigint;
  /** The whole transaction as these parts are written. */
  readonly whole: Hex;
}

function typedParts(bytes: Hex): Parts {
  const type = bytes.slice(0, 4) as Hex;
  const fields = listOf(`0x${bytes.slice(4)}`);
  const [isOdd, r, s] = fields.slice(-3).map(numberOf);
  const [chainId, nonce] = fields.slice(0, 2).map(numberOf);
  if (chainId === undefined || nonce === undefined || r === undefined || s === undefined) {
    throw new RangeError("fields are missing");
  }
  const own = fields.slice(0, -3);
  const parity = isOdd === 1n;
  return {
    nonce,
    chainId,
    call: type === PRICED ? own.slice(...CALL) : null,
    signed: typed(type, own),
    isOdd: parity,
    r,
    s,
    whole: typed(type, [...own, hexOf(parity ? 1n : 0n), hexOf(r), hexOf(s)]),
  };
}

function typed(type: Hex, fields: readonly Field[]): Hex {
  return `${type}${toRlp([...fields] as Field).slice(2)}`;
}

function untypedParts(bytes: Hex): Parts {
  const fields = listOf(bytes);
  if (fields.length !== UNTYPED_FIELDS) throw new RangeError("fields are missing");
  const [v = 0n, r = 0n, s = 0n] = fields.slice(UNTYPED_SIGNED).map(numberOf);
  const chainId = v >= PROTECTED ? (v - PROTECTED) / 2n : null;
  const own = fields.slice(0, UNTYPED_SIGNED);
  const chain = chainId === null ? [] : [hexOf(chainId), "0x", "0x"] as const;
  const even = chainId === null ? UNPROTECTED : PROTECTED + 2n * chainId;
  const isOdd = v === even + 1n;
  return {
    nonce: numberOf(fields[0]),
    chainId,
    call: null,
    signed: toRlp([...own, ...chain] as Field) as Hex,
    isOdd,
    r,
    s,
    whole: toRlp([...own, hexOf(isOdd ? even + 1n : even), hexOf(r), hexOf(s)] as Field) as Hex,
  };
}

function hexOf(value: bigint): Hex {
  const digits = value.toString(16);
  return value === 0n ? "0x" : `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

/** @throws {RangeError} where it is the signature of no key, or not as a block may hold it */
function addressOfSigner({ signed, isOdd, r, s, whole }: Parts, bytes: Hex): string {
  if (s > LARGEST_S) throw new RangeError("its signature is one that no block holds");
  if (whole !== bytes) throw new RangeError("it is written otherwise than a block holds it");
  const signature = hexToBytes(`${isOdd ? "01" : "00"}${wordOf(r)}${wordOf(s)}`);
  const hash = hexToBytes(keccak256(signed).slice(2));
  return addressOfPublicKey(secp256k1.recoverPublicKey(signature, hash, { prehash: false }));
}

/**
 * Proves who signed a transaction, with which nonce, and whether it moves nothing.
 *
 * @param bytes as they are broadcast, `0x` and lower-case digits
 * @param chainId number of the chain that it has to be for
 * @throws {RangeError} when they are no signed transaction of a known type, one that no block can hold, or one for another
 *   chain
 */
export function signedBy(bytes: string, chainId: number): SignedBy {
  const malformed = (why: unknown) =>
    new RangeError(
      `Cannot prove who signed a transaction as ${why instanceof Error ? why.message : why}`,
      { cause: why },
    );
  if (!BYTES.test(bytes)) throw malformed("it is no bytes");
  const hex = bytes as Hex;
  const isTyped = TYPED.test(hex);
  if (!isTyped && !UNTYPED.test(hex)) throw malformed(`its type is unknown: ${hex.slice(0, 4)}`);
  let parts: Parts;
  let sender: string;
  try {
    parts = isTyped ? typedParts(hex) : untypedParts(hex);
    sender = addressOfSigner(parts, hex);
  } catch (error) {
    // what libraries say of malformed bytes
    throw malformed(error);
  }
  if (parts.chainId !== null && parts.chainId !== BigInt(chainId)) {
    throw malformed(`it is for another chain: ${parts.chainId}, not ${chainId}`);
  }
  if (parts.nonce > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed("its nonce is too large");
  const movesNothing = parts.call !== null &&
    parts.call.join() === [sender.toLowerCase(), "0x", "0x"].join();
  return { txid: keccak256(hex), sender, nonce: Number(parts.nonce), movesNothing };
}
