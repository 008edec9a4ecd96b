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
 * The last type of transaction whose receipt has this layout: legacy (0), EIP-2930 (1), EIP-1559 (2),
 * EIP-4844 (3) and EIP-7702 (4).
 */
const LAST_TYPE = 4;

const writer = new RlpWriter();

/** A receipt as the trie has it: EIP-2718's type before the list, none for a legacy transaction. */
function encode({ type, status, cumulativeGasUsed, logsBloom, logs }: ReadReceipt): Uint8Array {
  writer.reset();
  writer.rawBytes(logs.encoded);
  writer.list(0);
  writer.hex(logsBloom);
  writer.number(cumulativeGasUsed);
  writer.number(status);
  writer.list(0);
  if (type > 0) writer.raw(type);
  return writer.bytes();
}

/** A type whose receipts are not known here; null: there is none. */
export function unknownType(receipts: readonly ReadReceipt[]): number | null {
  return receipts.find(({ type }) => type > LAST_TYPE)?.type ?? null;
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
