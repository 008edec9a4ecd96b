import type { ChainNode } from "../../nodes/node.ts";
import type { HeadAnswer } from "./answers.ts";

/** Time for which a newest block is taken for the one at its height, milliseconds: a moment later another may be. */
const NAMED_MS = 1_000;

/**
 * The newest block that each node has just named. Views read up to it at once: to ask for it again by its height
 * would be a call for each block of the chain.
 */
export class NamedBlocks {
  readonly #named = new WeakMap<ChainNode, { readonly head: HeadAnswer; readonly at: number }>();
  readonly #monotonic: () => number;

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Records what a node said. */
  record(node: ChainNode, head: HeadAnswer): void {
    this.#named.set(node, { head, at: this.#monotonic() });
  }

  /** The block at a height, where the node has just named it as its newest one. */
  at(node: ChainNode, height: number): HeadAnswer | null {
    const named = this.#named.get(node);
    if (named === undefined || named.head.number !== height) return null;
    return this.#monotonic() - named.at < NAMED_MS ? named.head : null;
  }
}
