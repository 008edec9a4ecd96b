/**
 * The root of a block's receipts, which its header names: receipts that lack a log, or are not all
 * there, have another one.
 *
 * @module
 */

import type { Slices } from "../../nodes/slices.ts";
import { orderedRoot, orderedRootInSlices } from "./ordered_trie.ts";
import type { ReadReceipt } from "./receipt_logs.ts";
import { RlpWriter } from "./rlp_writer.ts";

/**
 * The last type of transaction whose receipt is known to have this layout: legacy (0), EIP-2930 (1), EIP-1559 (2),
 * EIP-4844 (3) and EIP-7702 (4).
 */
const LAST_TYPE = 4;
/** A type is one byte, below those with which a list begins (EIP-2718). */
const LARGEST_TYPE = 0x7f;

const writer = new RlpWriter();

/**
 * A receipt as the trie has it: EIP-2718's type before the list, none for a legacy transaction. One of an unknown type is
 * written like the others, as all types since EIP-2930 are: where it has another layout its block's root is another one.
 */
function encode(
  { type, status, root, cumulativeGasUsed, logsBloom, logs }: ReadReceipt,
): Uint8Array {
  writer.reset();
  writer.rawBytes(logs.encoded);
  writer.list(0);
  writer.hex(logsBloom);
  writer.number(cumulativeGasUsed);
  if (status === null) writer.hex(root ?? "0x");
  else writer.number(status);
  writer.list(0);
  if (type > 0) writer.raw(Math.min(type, LARGEST_TYPE));
  return writer.bytes();
}

/** Types of receipts whose layout may be another than the usual one. */
export function unknownTypes(receipts: readonly ReadReceipt[]): readonly number[] {
  const found = new Set(receipts.map(({ type }) => type).filter((type) => type > LAST_TYPE));
  return [...found].sort((a, b) => a - b);
}

/** The root of receipts in the order of their transactions, `0x` and 64 lower-case digits. */
export function receiptsRoot(receipts: readonly ReadReceipt[]): string {
  return orderedRoot(receipts.map(encode));
}

/** The same of receipts whose encoding and hashing would hold the thread. */
export async function receiptsRootInSlices(
  receipts: readonly ReadReceipt[],
  slices: Slices,
): Promise<string> {
  const encoded: Uint8Array[] = [];
  for (const receipt of receipts) {
    encoded.push(encode(receipt));
    await slices.rest();
  }
  return await orderedRootInSlices(encoded, slices);
}
