import { type BlockRef, ChainUnavailable, type Place } from "../chain.ts";

/** So many blocks a node may have that were not expected: a chain that made them in a hurry. */
const SLACK_BLOCKS = 1_000;

/**
 * Bounds what the newest block of a chain can be: from a block that the scan has read, no chain grows by more
 * blocks than its time allows.
 */
export class NewestPlace {
  #read: Place | null = null;

  /** @param leastBlockMs time between two blocks at least */
  constructor(readonly leastBlockMs: number) {}

  /** Records a block that the scan has read. */
  record(place: Place): void {
    this.#read = place;
  }

  /**
   * @param node named when it is not believed
   * @throws {ChainUnavailable} `malformed` when no chain can have grown so much
   */
  require(block: BlockRef, node: string): void {
    const read = this.#read;
    if (read === null) return;
    const expected = Math.max(0, block.time - read.time) / this.leastBlockMs;
    if (block.height - read.height <= Math.max(SLACK_BLOCKS, expected)) return;
    throw new ChainUnavailable(
      "malformed",
      `Cannot believe a node as its newest block ${block.height} is further from block ` +
        `${read.height}, which was read, than their times allow: ${node}`,
    );
  }
}
