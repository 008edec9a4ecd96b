/**
 * Reads of blocks that may be long. Anybody can have a block filled: with what contracts return, a hundred megabytes cost
 * some thousand TRX. A block that fails has more time with each try, nothing is read beside it meanwhile, and from the third
 * try on its receipts are asked for one by one, of which those that have come are kept: so it is read in the end however
 * long it is and however slowly it comes.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import { BlockTries, NODES_IN_TIME } from "../../nodes/block_tries.ts";
import { KeptReceipts } from "../../nodes/kept_receipts.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { CallFailed } from "../../nodes/node_failures.ts";
import type { ReceiptAnswer } from "./answers.ts";
import { KEPT_ALONE_BYTES, KEPT_BYTES, type LongTerms } from "./long_read.ts";

/** Nodes whose receipts of one block are kept. */
const KEPT_NODES = 3;

/** Options of a network's long blocks. */
export interface LongBlockOptions {
  /** Bound of one read over all nodes, milliseconds; longer where a block fails again and again. */
  readonly totalTimeoutMs: number;
  /** Number of nodes that it is for. */
  readonly nodes: number;
  /** Bytes of one answer at most; default by its call, see `answer_sizes.ts`. */
  readonly mostBytes?: number;
}

/** The long blocks of one network. */
export class LongBlocks {
  readonly tries = new BlockTries();
  readonly #options: LongBlockOptions;
  readonly #kept = new KeptReceipts<ReceiptAnswer>({ sources: KEPT_NODES });

  constructor(options: LongBlockOptions) {
    this.#options = options;
  }

  /** The terms on which an answer about a block is read. */
  termsOf(height: number): LongTerms {
    const { totalTimeoutMs, nodes, mostBytes } = this.#options;
    const timeFactor = this.tries.timeFactor(height);
    return {
      timeFactor,
      mostBytes,
      wholeMs: totalTimeoutMs * timeFactor / Math.min(nodes, NODES_IN_TIME),
      // nothing else is read beside it then
      mostKeptBytes: this.hasFailed(height) ? KEPT_ALONE_BYTES : KEPT_BYTES,
    };
  }

  /** True for a block that could not be read lately. */
  hasFailed(height: number): boolean {
    return this.tries.failuresOf(height) > 0;
  }

  /** Receipts of a block that a node has given in earlier tries, by their transactions. */
  keptOf(height: number, hash: string, node: ChainNode): Map<string, ReceiptAnswer> {
    return this.#kept.of(height, sourceOf(hash, node));
  }

  /**
   * Counts a failure for which a block may be too long.
   *
   * @param signal of the caller
   * @returns true where it is the block's, and the node is not to blame
   */
  failed(
    height: number,
    { label }: ChainNode,
    error: unknown,
    signal: AbortSignal,
  ): error is ChainUnavailable {
    if (!(error instanceof ChainUnavailable)) return false;
    // a node that was sending a long answer has failed in that call alone
    const hasBegun = error instanceof CallFailed && error.category !== "server-error";
    return this.tries.failed(height, { node: label, failure: error, hasBegun, signal });
  }

  /** A block was read. */
  succeeded(height: number): void {
    this.tries.succeeded(height);
    this.#kept.forget(height);
  }

  /** Drops the receipts that a node has given of a block: they are not all of them, or contradict it. */
  wasNotWhole(height: number, hash: string, node: ChainNode): void {
    this.#kept.drop(height, sourceOf(hash, node));
  }
}

/** Receipts of two nodes are never mixed: a block is what one of them says. */
function sourceOf(hash: string, { label }: ChainNode): string {
  return `${hash} ${label}`;
}
