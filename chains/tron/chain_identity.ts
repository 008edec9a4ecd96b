/**
 * True if a node is of the chain it is believed to be of. The id of the first block says so: it
 * differs between the main network, its test networks and private ones.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";
import { headOrNothingSchema } from "./answers.ts";
import { ForeignNode } from "./foreign_node.ts";
import type { TronNode } from "./node.ts";
import { readFrom } from "./node_pool.ts";

/** The chain that all nodes of a network must be of. */
export class ChainIdentity {
  #genesis: string | null = null;

  /** Id of the first block; null while no node has said it. */
  get genesis(): string | null {
    return this.#genesis;
  }

  /** Says which chain it is, from what was kept when it was first read. */
  expect(genesis: string): void {
    this.#genesis = genesis;
  }

  /**
   * Asks a node for the first block. The first answer names the chain, where nothing else has.
   *
   * @throws {ForeignNode} when it is of another chain
   * @throws {ChainUnavailable} when it does not answer
   */
  async require(node: TronNode, signal: AbortSignal): Promise<void> {
    const request = { path: "/wallet/getblockbynum", body: { num: 0 } };
    const block = await readFrom(node, request, headOrNothingSchema, signal);
    if (block === null) return;
    const { number } = block.block_header.raw_data;
    if (number !== 0) {
      throw new ChainUnavailable(
        "malformed",
        `Cannot tell a node's chain as it answered block ${number} for block 0: ${node.label}`,
      );
    }
    this.#genesis ??= block.blockID;
    if (this.#genesis === block.blockID) return;
    throw new ForeignNode(
      `Cannot use a node as it is of another chain (first block ${block.blockID}, not ` +
        `${this.#genesis}): ${node.label}`,
    );
  }
}
