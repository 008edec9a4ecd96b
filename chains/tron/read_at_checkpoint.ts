/**
 * Reads from nodes that are known to be of the chain our own scan has read. The first block tells
 * chains apart, not the branches of one: a node that was left behind on a branch, or was made from
 * another's past, has the same first block and other solid ones.
 *
 * @module
 */

import { ChainUnavailable, type Checkpoint, NotOurChain } from "../chain.ts";
import { headOrNothingSchema } from "./answers.ts";
import { ForeignNode } from "./foreign_node.ts";
import type { TronNode } from "./node.ts";
import { type NodePool, readFrom } from "./node_pool.ts";
import { blockRefOf } from "./parse_block.ts";

/** How a read goes over several nodes; see {@linkcode NodePool.read}. */
export interface KnownRead<T> {
  readonly attempt: (node: TronNode, signal: AbortSignal) => Promise<T>;
  readonly isEnough: (result: T) => boolean;
  readonly better: (kept: T, found: T) => T;
}

/**
 * As {@linkcode NodePool.read}, past the nodes that do not have a checkpoint: one that is behind it is
 * only passed over, one with another block in its place is left alone, with an alarm. Checkpoint and
 * result come from the same node.
 *
 * @param checkpoint without one every node is believed
 * @throws {NotOurChain} when only nodes without the checkpoint answered
 */
export async function readAtCheckpoint<T>(
  pool: NodePool,
  checkpoint: Checkpoint | undefined,
  { attempt, isEnough, better }: KnownRead<T>,
  signal?: AbortSignal,
): Promise<T> {
  if (checkpoint === undefined) return await pool.read(attempt, signal, isEnough, better);
  let answer: { readonly result: T } | null;
  try {
    answer = await pool.read<{ readonly result: T } | null>(
      async (node, bound) =>
        await hasCheckpoint(node, checkpoint, bound)
          ? { result: await attempt(node, bound) }
          : null,
      signal,
      (answer) => answer !== null && isEnough(answer.result),
      (kept, found) =>
        kept === null || found === null
          ? kept ?? found
          : { result: better(kept.result, found.result) },
    );
  } catch (error) {
    if (!(error instanceof ForeignNode)) throw error;
    throw new NotOurChain(error.message, { cause: error });
  }
  if (answer !== null) return answer.result;
  throw new NotOurChain(
    `Cannot believe any node as none that answers has solid block ${checkpoint.height}: ${
      pool.nodes.map((node) => node.label).join(", ")
    }`,
  );
}

/**
 * True if a node has the checkpoint among its solid blocks; otherwise it is behind.
 *
 * @throws {ForeignNode} when it has another block in its place
 */
export async function hasCheckpoint(
  node: TronNode,
  { height, hash }: Checkpoint,
  signal: AbortSignal,
): Promise<boolean> {
  const request = { path: "/walletsolidity/getblockbynum", body: { num: height } };
  const answer = await readFrom(node, request, headOrNothingSchema, signal);
  if (answer === null) return false;
  const block = blockRefOf(answer);
  if (block.height !== height) {
    throw new ChainUnavailable(
      "malformed",
      `Cannot tell a node's chain as it answered block ${block.height} for block ${height}: ` +
        node.label,
    );
  }
  if (block.hash === hash) return true;
  throw new ForeignNode(
    `Cannot use a node as it is of another chain (solid block ${height} is ${block.hash}, not ` +
      `${hash}): ${node.label}`,
  );
}
