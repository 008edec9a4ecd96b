/**
 * Signs transactions locally, of type 2 (EIP-1559) and of type 4 (EIP-7702); a test holds every byte of them
 * to another library. A node is never asked to build or to sign.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { hashAuthorization, keccak256, parseTransaction, serializeTransaction } from "viem/utils";
import type { SignedTransaction } from "../../chain.ts";
import type { SigningKey } from "../../signer.ts";
import { addressOfPublicKey } from "../address.ts";
import { sweptIn } from "./sweep_delegate.ts";

/** Bytes as hexadecimal, as viem types them. */
type Hex = `0x${string}`;

/** A transaction without its signature. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly gas: number;
  /** Wei for a unit of gas. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly to: string;
  /** Wei. */
  readonly value: bigint;
  readonly data: string;
}

/** Leave of an address for a contract's code to run in its name. */
export interface Authorization {
  readonly delegate: string;
  /** The number that the address gives it. */
  readonly nonce: number;
  readonly key: SigningKey;
}

interface Signature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`;
}

/** Signs a hash, deterministically (RFC 6979), with the lower of the two possible `s`. */
function signHash(hash: string, { privateKey }: SigningKey): Signature {
  const signature = secp256k1.sign(hexToBytes(hash.slice(2)), privateKey, {
    prehash: false,
    format: "recovered",
  });
  return {
    r: hexOf(signature.subarray(1, 33)),
    s: hexOf(signature.subarray(33)),
    yParity: signature[0] as number,
  };
}

/**
 * Signs a transaction. With authorisations it is of type 4, without any of type 2.
 *
 * @param authorizations each for this transaction's chain alone, never for all of them
 */
export function signTransaction(
  { to, data, gas, ...unsigned }: UnsignedTransaction,
  key: SigningKey,
  authorizations: readonly Authorization[] = [],
): SignedTransaction {
  const { chainId } = unsigned;
  const fields = {
    ...unsigned,
    gas: BigInt(gas),
    to: to as Hex,
    ...(data === "0x" ? {} : { data: data as Hex }),
  };
  const authorizationList = authorizations.map(({ delegate, nonce, key }) => {
    const address = delegate as Hex;
    return {
      address,
      chainId,
      nonce,
      ...signHash(hashAuthorization({ address, chainId, nonce }), key),
    };
  });
  const transaction = authorizationList.length === 0
    ? { type: "eip1559", ...fields } as const
    : { type: "eip7702", ...fields, authorizationList } as const;
  const bytes = serializeTransaction(
    transaction,
    signHash(keccak256(serializeTransaction(transaction)), key),
  );
  return { txid: keccak256(bytes), bytes, expiresAt: null };
}

/**
 * The addresses that authorise the delegate in signed bytes, as an envelope names them: nonces by their places
 * in the sweep.
 *
 * @param bytes of a transaction as it is broadcast
 * @returns null where none does
 */
export function authorizeOf(bytes: string): string | null {
  const { type, authorizationList = [], data = "0x" } = parseTransaction(bytes as Hex);
  if (type !== "eip7702") return null;
  const swept = sweptIn(data).map((address) => address.toLowerCase());
  return authorizationList.map(({ address, chainId, nonce, r, s, yParity }) => {
    const hash = hashAuthorization({ address, chainId, nonce });
    const signature = hexToBytes(
      `0${yParity ?? 0}${r.slice(2).padStart(64, "0")}${s.slice(2).padStart(64, "0")}`,
    );
    const publicKey = secp256k1.recoverPublicKey(signature, hexToBytes(hash.slice(2)), {
      prehash: false,
    });
    return `${swept.indexOf(addressOfPublicKey(publicKey).toLowerCase())}:${nonce}`;
  }).join(",");
}
