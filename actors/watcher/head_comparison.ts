import type { Checkpoint, FurthestBlock } from "../../chains/chain.ts";

/** Time for which nodes that do not show what is compared hold signing, milliseconds. */
const SILENT_MS = 60_000;
/** A node that is behind the clock by so much less than before catches up; by a wrong clock the difference stays. Milliseconds. */
const CATCHES_UP_MS = 60_000;
/** Tries that they have at least: a time in which nodes say nothing at all is none of them. */
const LEAST_TRIES = 12;
/** State of a comparison: not made, not answered by nodes so far, or made. */
export type ComparisonState = "due" | "failing" | "over";

/** A place that signing waits for: it goes on once the scan has read either. */
interface AwaitedPlace {
  readonly height: number;
  /** Time of a block, Unix milliseconds: what was the newest one at the comparison is below every block that was made later. */
  readonly time: number;
  /** Time by which nodes were behind the clock where their missing blocks are awaited, milliseconds; absent: others are. */
  readonly behindMs?: number;
}

/**
 * Memory of the comparison of a network's newest blocks with the books, which is made once before anything is signed: see
 * `compare_head.ts`. What it finds to be unknown has signing wait for a height, or for a block of a time, whichever the scan
 * reads first: a node that names a height far above the chain's holds signing no longer than an honest one. Nodes that say
 * nothing are waited for for a minute.
 */
export class HeadComparison {
  readonly #monotonic: () => number;
  #isOver = false;
  /** First try that nodes did not answer. */
  #failingSince: number | null = null;
  #failed = 0;
  #awaited: AwaitedPlace | null = null;
  /** The last block that was compared; null: none above the solid ones. */
  read: Checkpoint | null = null;
  /** Number of times that it was begun anew. */
  begun = 0;
  #unknown: AwaitedPlace | null = null;
  #behind: FurthestBlock | null = null;
  /** See {@linkcode AwaitedPlace.behindMs}, of the comparison before; null: it was not for that that signing waited. */
  #behindBefore: number | null = null;

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  get state(): ComparisonState {
    if (this.#isOver) return "over";
    // the newest block is often not whole yet at the first try
    return this.#failed < 2 ? "due" : "failing";
  }

  /** Height that has to be read for what was found; 0: nothing was. */
  get awaited(): number {
    return this.#awaited?.height ?? 0;
  }

  /**
   * The newest block by which the books lack something of it or of those below; null: they lack nothing. It is kept where that
   * block's branch is left, or a node has shown a block of none: what was signed can be in another block as well.
   */
  get unknown(): AwaitedPlace | null {
    return this.#unknown;
  }

  /**
   * The highest block of a try by which all nodes were behind the clock; null: there was none. It is kept where nodes say nothing
   * then: what is newer than it was compared by no try.
   */
  get behind(): FurthestBlock | null {
    return this.#behind;
  }

  /** True where nodes are behind the clock, unless what they lack was awaited and they are as much behind as before. */
  get lacksBlocks(): boolean {
    if (this.#behind === null) return false;
    return this.#behindBefore === null ||
      this.#behind.behindMs < this.#behindBefore - CATCHES_UP_MS;
  }

  /**
   * Has the comparison made once more: the database was set back meanwhile. What one before it has found stays awaited, and decides
   * nothing of what is found now; what one that did not end has found counts.
   */
  begin(): void {
    if (this.#isOver) this.#unknown = null;
    this.#behindBefore = null;
    this.#restart();
  }

  #restart(): void {
    this.begun++;
    this.#isOver = false;
    this.#failingSince = null;
    this.#failed = 0;
    this.#behind = null;
    this.beginAnew();
  }

  /** Has all blocks compared again: those that were are of a branch that was left. */
  beginAnew(): void {
    this.read = null;
  }

  /** Takes in a block by which the books lack something of it or of those below. */
  recordUnknown({ height, time }: AwaitedPlace): void {
    this.#unknown = {
      height: Math.max(height, this.#unknown?.height ?? 0),
      time: Math.max(time, this.#unknown?.time ?? 0),
    };
  }

  /** Takes in the newest block of all nodes where it is behind the clock. */
  recordBehind(newest: FurthestBlock): void {
    if (newest.height >= (this.#behind?.height ?? 0)) this.#behind = newest;
  }

  /** Ends it: the books know all of it. */
  agree(): void {
    this.#isOver = true;
  }

  /**
   * Ends it: signing waits until the scan has read what the books lack, and what was awaited before.
   *
   * @param awaited above the newest block by which they lack it, as a node may be behind the one that showed it, or the block be
   *   taken back
   */
  waitFor(awaited: AwaitedPlace): void {
    this.#isOver = true;
    const { height = 0, time = 0 } = this.#awaited ?? {};
    this.#awaited = {
      ...awaited,
      height: Math.max(height, awaited.height),
      time: Math.max(time, awaited.time),
    };
  }

  /** Takes in a try that nodes did not answer. @returns true where no other is made */
  fail(): boolean {
    const now = this.#monotonic();
    this.#failingSince ??= now;
    return ++this.#failed >= LEAST_TRIES && now - this.#failingSince >= SILENT_MS;
  }

  /**
   * Takes in up to where solid blocks are read; forgets what was waited for where that is read. Nodes that were behind the clock may
   * be so still, as one that catches up for hours: newest blocks are compared once more. A comparison that was begun meanwhile, as
   * the database was set back, is left as it is: what it has found is above what was waited for before.
   */
  recordRead(height: number, time: number): void {
    if (this.#awaited === null) return;
    if (height < this.#awaited.height && time < this.#awaited.time) return;
    const { behindMs, time: until } = this.#awaited;
    this.#awaited = null;
    if (!this.#isOver) return;
    this.#unknown = null;
    if (behindMs === undefined || time >= until) return;
    this.#behindBefore = behindMs;
    this.#restart();
  }
}
