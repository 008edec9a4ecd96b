/**
 * Bounds of nodes' answers. An answer is read in one go on the thread that serves everything: what a node may have it
 * read is bounded by what it was asked.
 *
 * @module
 */

import { SHORT_BODY_BYTES } from "../../nodes/read_body.ts";

const MEGABYTE = 1024 * 1024;
/** A block has two megabytes at most, and four to five times as much as JSON. */
const BLOCK_BYTES = 16 * MEGABYTE;

/**
 * Bytes of an answer at most, by the last part of the path; of any other: a few values. An account lists every token that
 * anybody has sent it. Logs of a block are bounded by what they cost alone.
 */
const MOST_BYTES: Readonly<Record<string, number>> = {
  // nodes that do not know how to leave transactions out answer a block with them
  getblock: BLOCK_BYTES,
  getnowblock: BLOCK_BYTES,
  getblockbynum: BLOCK_BYTES,
  // a range that has more is read block by block
  getblockbylimitnext: 2 * BLOCK_BYTES,
  gettransactioninfobyblocknum: 4 * BLOCK_BYTES,
  gettransactioninfobyid: BLOCK_BYTES,
  gettransactionbyid: 4 * MEGABYTE,
  getaccount: 4 * MEGABYTE,
  getaccountresource: 4 * MEGABYTE,
  triggerconstantcontract: 2 * MEGABYTE,
};

/** Bytes of the answer to a call at most. */
export function mostBytesOf(path: string): number {
  return MOST_BYTES[path.slice(path.lastIndexOf("/") + 1)] ?? SHORT_BODY_BYTES;
}
