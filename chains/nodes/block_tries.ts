import type { ChainUnavailable } from "../chain.ts";

/** Time is doubled so often. */
const MOST_DOUBLED = 3;
/** Failed tries after which no node is asked for all receipts of the block together. */
const TOGETHER_TRIES = 2;
/** Nodes that share the time of a read; further ones are only asked where those fail early. */
export const NODES_IN_TIME = 3;
/** More blocks than fail at once; the oldest is forgotten. */
const MOST_KNOWN = 100;

/** Failed tries of a block. */
interface Failures {
  readonly count: number;
  /** Labels of the nodes at which it failed. */
  readonly nodes: ReadonlySet<string>;
}

export interface FailedTry {
  /** Label of the node that was asked. */
  readonly node: string;
  readonly failure: ChainUnavailable;
  /** True where the node was sending an answer that is long. */
  readonly hasBegun: boolean;
  /** Goes off when the caller gives up. */
  readonly signal: AbortSignal;
}

/** Failed tries of one network's blocks: anybody can make a block long, and one that fails has more time with each try. */
export class BlockTries {
  readonly #failures = new Map<number, Failures>();
  /** A call that is left alone for a while fails with what it failed with before, which counts once. */
  readonly #counted = new WeakSet<ChainUnavailable>();

  /** Failed tries of a block so far. */
  failuresOf(height: number): number {
    return this.#failures.get(height)?.count ?? 0;
  }

  /** True where all receipts of a block may still come in one answer. */
  mayBeTogether(height: number): boolean {
    return this.failuresOf(height) < TOGETHER_TRIES;
  }

  /** So many times the usual time a read of a block has. */
  timeFactor(height: number): number {
    return 2 ** Math.min(this.failuresOf(height), MOST_DOUBLED);
  }

  /** The same for a read of any block of which it is not known yet which. */
  get mostTimeFactor(): number {
    return Math.max(1, ...[...this.#failures.keys()].map((height) => this.timeFactor(height)));
  }

  /**
   * Counts a failure for which a block may be too long.
   *
   * @returns true where it is the block's and the node is not to blame: it was sending the block, now or in an earlier try,
   *   or another node has failed in it as well
   */
  failed(height: number, { node, failure, hasBegun, signal }: FailedTry): boolean {
    const { category } = failure;
    const mayBeLong = category === "timeout" || category === "network" ||
      category === "server-error";
    // a caller that gave up says nothing of a block that had not begun to come
    if (!mayBeLong || (signal.aborted && !hasBegun)) return false;
    if (this.#counted.has(failure)) return true;
    this.#counted.add(failure);
    const { count, nodes } = this.#failures.get(height) ?? { count: 0, nodes: new Set() };
    this.#failures.delete(height);
    this.#failures.set(height, { count: count + 1, nodes: new Set([...nodes, node]) });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MOST_KNOWN && oldest !== undefined) this.#failures.delete(oldest);
    return hasBegun || [...nodes].some((other) => other !== node);
  }

  /** A block was read. */
  succeeded(height: number): void {
    this.#failures.delete(height);
  }
}
