/**
 * Reads of money from an address that may stand for several nodes, of which one lags: that one node has
 * our newest block says nothing of the next answer, which may be another node's.
 *
 * @module
 */

import type { Checkpoint } from "../chain.ts";
import type { ConstantCallAnswer } from "./answers.ts";
import type { TronNode } from "./node.ts";
import { CallFailed } from "./node_failures.ts";
import { hasCheckpoint } from "./read_at_checkpoint.ts";

const HALF = 0x8000;

/**
 * Tells if the node that simulated a call had a block then: it prepares the call as a transaction, which
 * refers to the newest block of the very state that the call saw.
 *
 * @returns `null` when the answer does not say it
 */
export function namesBlock(
  { transaction }: Pick<ConstantCallAnswer, "transaction">,
  { height, hash }: Checkpoint,
): boolean | null {
  const { ref_block_bytes: low, ref_block_hash: part } = transaction?.raw_data ?? {};
  if (low === undefined || part === undefined) return null;
  // only the last 16 bits of the height are told; of two nodes behind one address none is a day behind
  const ahead = ((parseInt(low, 16) - height + HALF) & 0xffff) - HALF;
  return ahead > 0 || (ahead === 0 && part === hash.slice(16, 32));
}

/**
 * Reads what does not name its block twice, and the block again afterwards: answers of different nodes
 * differ, or one of them lacks the block.
 *
 * @throws {CallFailed} when they cannot be of one state that has the block
 */
export async function readTwice<T>(
  node: TronNode,
  checkpoint: Checkpoint,
  read: () => Promise<T>,
  isSame: (one: T, other: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  const first = await read();
  const second = await read();
  if (isSame(first, second) && await hasCheckpoint(node, checkpoint, signal)) return second;
  throw new CallFailed(
    "server-error",
    `Cannot believe a balance as its answers are of different states, not all with block ` +
      `${checkpoint.height}: ${node.label}`,
    "a balance of several nodes",
    true,
  );
}
