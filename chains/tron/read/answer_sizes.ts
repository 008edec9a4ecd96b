/**
 * Bounds of nodes' answers: what a node may have the thread read is bounded by what it was asked. Those that may be long
 * are read piece by piece, see `long_read.ts`; the others have a few values.
 *
 * @module
 */

import { SHORT_BODY_BYTES } from "../../nodes/read_body.ts";

const MEGABYTE = 1024 * 1024;
/**
 * A block has two megabytes at most, and as JSON four to five times as much; a contract's description that is made for
 * it, twelve times.
 */
const BLOCK_BYTES = 32 * MEGABYTE;
/** A transaction has half a megabyte at most. */
const TRANSACTION_BYTES = 8 * MEGABYTE;
/**
 * One receipt has a quarter of it: contracts return three megabytes at most, and logs are paid for. Those of a whole block
 * may have more, as what contracts return costs next to nothing; then they are read one by one.
 */
const RECEIPTS_BYTES = 256 * MEGABYTE;

/** Bytes of an answer at most, by the last part of the path; of any other: a few values. */
const MOST_BYTES: Readonly<Record<string, number>> = {
  // nodes that do not know how to leave transactions out answer a block with them
  getblock: BLOCK_BYTES,
  getnowblock: BLOCK_BYTES,
  getblockbynum: BLOCK_BYTES,
  // a range that has more is read block by block
  getblockbylimitnext: 2 * BLOCK_BYTES,
  gettransactioninfobyblocknum: RECEIPTS_BYTES,
  gettransactioninfobyid: RECEIPTS_BYTES,
  gettransactionbyid: TRANSACTION_BYTES,
  // an account lists every token that anybody has sent it
  getaccount: 4 * MEGABYTE,
  getaccountresource: 4 * MEGABYTE,
  triggerconstantcontract: 256 * 1024,
};

/** Bytes of the answer to a call at most. */
export function mostBytesOf(path: string): number {
  return MOST_BYTES[path.slice(path.lastIndexOf("/") + 1)] ?? SHORT_BODY_BYTES;
}
