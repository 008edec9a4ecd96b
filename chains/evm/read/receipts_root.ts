/**
 * The root of a block's receipts, which its header names: receipts that lack a log, or are not all
 * there, have another one.
 *
 * @module
 */

import type { ReceiptAnswer } from "./answers.ts";
import { orderedRoot } from "./ordered_trie.ts";
import { RlpWriter } from "./rlp_writer.ts";

/**
 * The last type of transaction whose receipt has this layout: legacy (0), EIP-2930 (1), EIP-1559 (2),
 * EIP-4844 (3) and EIP-7702 (4).
 */
const LAST_TYPE = 4;

const writer = new RlpWriter();

/** A receipt as the trie has it: EIP-2718's type before the list, none for a legacy transaction. */
function encode({ type, status, cumulativeGasUsed, logsBloom, logs }: ReceiptAnswer): Uint8Array {
  writer.reset();
  for (let i = logs.length - 1; i >= 0; i--) {
    const { address, topics, data } = logs[i] as ReceiptAnswer["logs"][number];
    const end = writer.size;
    writer.hex(data);
    const topicsEnd = writer.size;
    for (let k = topics.length - 1; k >= 0; k--) writer.hex(topics[k] as string);
    writer.list(topicsEnd);
    writer.hex(address);
    writer.list(end);
  }
  writer.list(0);
  writer.hex(logsBloom);
  writer.number(cumulativeGasUsed);
  writer.number(status);
  writer.list(0);
  if (type > 0) writer.raw(type);
  return writer.bytes();
}

/**
 * The root of receipts in the order of their transactions.
 *
 * @returns `0x` and 64 lower-case digits; or the type whose receipts are not known here
 */
export function receiptsRoot(receipts: readonly ReceiptAnswer[]): string | { unknownType: number } {
  const unknown = receipts.find(({ type }) => type > LAST_TYPE);
  if (unknown !== undefined) return { unknownType: unknown.type };
  return orderedRoot(receipts.map(encode));
}
