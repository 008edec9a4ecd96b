/**
 * Names, links and signs blocks: the id is the height followed by the end of the header's hash, as
 * on TRON, and the header commits to the parent and to every transaction.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { ProtoWriter } from "./protobuf.ts";
import { BLOCK_VERSION, type Header } from "./render.ts";
import { type ChainKey, signDigest } from "./signature.ts";
import type { Transaction } from "./transaction.ts";

/** Parent id of the first block. */
export const NO_PARENT = "0".repeat(64);

/**
 * Makes a block's header.
 *
 * @param time Unix milliseconds
 */
export function makeHeader(
  height: number,
  parentId: string,
  time: number,
  transactions: readonly Transaction[],
  witness: ChainKey,
): Header {
  const txTrieRoot = merkleRoot(transactions.map(leafOf));
  const raw = new ProtoWriter()
    .int(1, time)
    .bytes(2, txTrieRoot)
    .bytes(3, Uint8Array.fromHex(parentId))
    .int(7, height)
    .bytes(9, Uint8Array.fromHex(witness.address))
    .int(10, BLOCK_VERSION)
    .finish();
  const digest = sha256(raw);
  return {
    height,
    id: height.toString(16).padStart(16, "0") + digest.subarray(8).toHex(),
    parentId,
    time,
    txTrieRoot: txTrieRoot.toHex(),
    witness: witness.address,
    witnessSignature: signDigest(digest, witness),
  };
}

/** The reference to a block in a transaction that is built on it. */
export function referenceOf(
  block: { readonly height: number; readonly id: string },
): { ref_block_bytes: string; ref_block_hash: string } {
  return {
    ref_block_bytes: (block.height & 0xffff).toString(16).padStart(4, "0"),
    ref_block_hash: block.id.slice(16, 32),
  };
}

function leafOf(transaction: Transaction): Uint8Array {
  const hash = sha256.create().update(Uint8Array.fromHex(transaction.rawHex));
  for (const signature of transaction.signatures) hash.update(Uint8Array.fromHex(signature));
  return hash.digest();
}

function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Uint8Array;
      const right = level[i + 1];
      above.push(right === undefined ? left : sha256.create().update(left).update(right).digest());
    }
    level = above;
  }
  return level[0] ?? new Uint8Array(32);
}
