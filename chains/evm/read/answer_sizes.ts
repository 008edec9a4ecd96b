/**
 * Bounds of nodes' answers. An answer is read in one go on the thread that serves everything: what a node may have it
 * read is bounded by what it was asked. Receipts of blocks are read piece by piece where they are long, and have no bound here.
 *
 * @module
 */

import { SHORT_BODY_BYTES } from "../../nodes/read_body.ts";

const MEGABYTE = 1024 * 1024;

/**
 * Bytes of an answer at most, by the method; of any other: a few values. A block without its transactions' contents has
 * 69 bytes for each: so many are thirty thousand. Code and input of a transaction have some hundred kilobytes.
 * By its hash a block is read with its transactions' contents, rarely: nodes of Ethereum pass on ten megabytes at most, which are twice
 * as many digits.
 */
const MOST_BYTES: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 2 * MEGABYTE,
  eth_getBlockByHash: 24 * MEGABYTE,
  eth_getCode: 2 * MEGABYTE,
  eth_call: 2 * MEGABYTE,
  eth_getTransactionByHash: 2 * MEGABYTE,
  eth_getRawTransactionByHash: 2 * MEGABYTE,
  eth_getRawTransactionByBlockHashAndIndex: 2 * MEGABYTE,
};

/** Bytes of the answer to a call at most. */
export function mostBytesOf(method: string): number {
  return MOST_BYTES[method] ?? SHORT_BODY_BYTES;
}
