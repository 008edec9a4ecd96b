/**
 * The nodes of a network with all that reading from them needs.
 *
 * @module
 */

import { type BlockRef, ChainUnavailable } from "../../chain.ts";
import { MOST_AHEAD_MS, requireTime } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { JsonRpc, type RpcCall } from "../../nodes/json_rpc.ts";
import { CallFailed, WrongChainNode } from "../../nodes/node_failures.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { type HeadAnswer, headOrNothingSchema, wholeSchema } from "./answers.ts";
import type { LongReads } from "./long_reads.ts";
import type { NamedBlocks } from "./named_blocks.ts";
import { blockRefOf, type ParseContext } from "./parse_block.ts";
import { EVM_DIALECT } from "./rpc_errors.ts";

/** Asks nodes in Ethereum's dialect. */
export const rpc = new JsonRpc(EVM_DIALECT);

/** Name of a block for which a node has its newest final one. */
export const FINAL_TAG = "finalized";

/** A quantity as nodes take it. */
export function quantityOf(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A call for a block's head, by its height or the name of a view. */
export function headCall(block: number | "latest" | typeof FINAL_TAG): RpcCall {
  const name = typeof block === "number" ? quantityOf(block) : block;
  return { method: "eth_getBlockByNumber", params: [name, false] };
}

/**
 * The newest final block of a node. Final is what the node says is: a number of blocks on top of
 * another proves nothing.
 *
 * @throws {ChainUnavailable} `malformed` where the node does not say it
 */
export async function finalHead(node: ChainNode, signal?: AbortSignal): Promise<HeadAnswer> {
  const call = headCall(FINAL_TAG);
  const unsaid = (why: string) =>
    new CallFailed(
      "malformed",
      `Cannot tell what is final as the node does not say it: ${node.label} ${why}`,
      `${call.method} ${FINAL_TAG}`,
      true,
    );
  try {
    const head = await rpc.ask(node, call, headOrNothingSchema, signal);
    if (head !== null) return head;
  } catch (error) {
    if (error instanceof CallFailed) throw unsaid(error.message);
    throw error;
  }
  throw unsaid("it has no final block");
}

/** The newest final block that each node has named, so that what is below is not asked again. */
export class FinalBlocks {
  readonly #known = new WeakMap<ChainNode, HeadAnswer>();

  /** Records what a node said. */
  record(node: ChainNode, head: HeadAnswer): void {
    const known = this.#known.get(node);
    if (known === undefined || head.number >= known.number) this.#known.set(node, head);
  }

  /**
   * The newest final block of a node, asked anew where the known one is below a height.
   *
   * @throws {ChainUnavailable} see {@linkcode finalHead}
   */
  async upTo(node: ChainNode, height: number, signal?: AbortSignal): Promise<HeadAnswer> {
    const known = this.#known.get(node);
    if (known !== undefined && known.number >= height) return known;
    const head = await finalHead(node, signal);
    this.record(node, head);
    return head;
  }
}

/** The newest block of each node: one that is behind the others answers as readily as they do. */
export interface KnownHeads {
  /** Records what a node said. */
  record(node: ChainNode, block: BlockRef): void;
  /**
   * The newest block of a node, as it said a moment ago or says now.
   *
   * @throws {ChainUnavailable} when it does not answer, or what it says cannot be
   */
  of(node: ChainNode, signal: AbortSignal): Promise<BlockRef>;
  /** True for a newest block that is near the clock, and near the height that two nodes of three or more have reached. */
  isNear(block: BlockRef): boolean;
  /** True for a newest block above another one, as far as two nodes of three or more have reached it. */
  isFurther(block: BlockRef, than: BlockRef): boolean;
}

/** See the module. */
export interface EvmSource {
  readonly pool: NodePool;
  readonly finals: FinalBlocks;
  readonly named: NamedBlocks;
  readonly long: LongReads;
  /** True for a look-up of one transaction, whose long answers come after those of scans. */
  readonly isLookUp?: boolean;
  readonly heads: KnownHeads;
  readonly context: ParseContext;
}

/**
 * Makes sure that a node is of the chain with a number.
 *
 * @throws {WrongChainNode} when it is of another
 * @throws {ChainUnavailable} when it does not answer
 */
export async function requireChainId(
  node: ChainNode,
  expected: number,
  signal?: AbortSignal,
): Promise<void> {
  const found = await rpc.ask(node, { method: "eth_chainId", params: [] }, wholeSchema, signal);
  if (found === expected) return;
  throw new WrongChainNode(
    `Cannot use a node as it is of another chain (number ${found}, not ${expected}): ${node.label}`,
  );
}

/** @throws {ChainUnavailable} when a node answered with another block than it was asked for, or its time has not come */
export function requireBlock(
  head: HeadAnswer,
  height: number,
  { mostAheadMs = MOST_AHEAD_MS }: ParseContext,
  node: ChainNode,
): void {
  const { number } = head;
  if (number === height) return requireTime(blockRefOf(head), mostAheadMs, node.label);
  throw new ChainUnavailable(
    "malformed",
    `Cannot read block ${height} as the node answered block ${number}: ${node.label}`,
  );
}
