import type { Checkpoint } from "../../chains/chain.ts";

/** Time for which nodes that do not show what is compared hold signing, milliseconds. */
const SILENT_MS = 60_000;
/** Tries that they have at least: a time in which nodes say nothing at all is none of them. */
const LEAST_TRIES = 12;
/** Time for which a height counts that no node has named again, milliseconds. */
const KEPT_MS = 10 * 60_000;
/** Pause between two questions how long the chain is, while a height is waited for, milliseconds. */
const ASK_MS = 30_000;

/** State of a comparison: not made, not answered by nodes so far, or made. */
export type ComparisonState = "due" | "failing" | "over";

/**
 * Memory of the comparison of a network's newest blocks with the books, which is made once before anything is signed: see
 * `compare_head.ts`. What it finds to be unknown has signing wait for a height; a node that says too much is believed for ten
 * minutes, and nodes that say nothing are waited for for one.
 */
export class HeadComparison {
  readonly #monotonic: () => number;
  #isOver = false;
  /** First try that nodes did not answer. */
  #failingSince: number | null = null;
  #failed = 0;
  /** Height that the scan has to read, the newest head by which it counts, and the last time that a node named one. */
  #awaited: { readonly height: number; readonly head: number; readonly saidAt: number } | null =
    null;
  #asksAt = -Infinity;
  /** The last block that was compared; null: none above the solid ones. */
  read: Checkpoint | null = null;
  /** Number of times that it was begun anew. */
  begun = 0;
  /** True where a block that was compared shows what the books do not know. */
  hasUnknown = false;

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

  /** Has the comparison made once more: the database was set back meanwhile. */
  begin(): void {
    this.begun++;
    this.#isOver = false;
    this.#failingSince = null;
    this.#failed = 0;
    this.beginAnew();
  }

  /** Has all blocks compared again: those that were are of a branch that was left. */
  beginAnew(): void {
    this.read = null;
    this.hasUnknown = false;
  }

  /** Ends it: the books know all of it. */
  agree(): void {
    this.#isOver = true;
  }

  /**
   * Ends it: signing waits until the scan has read what the books lack.
   *
   * @param head height of the newest block by which they lack it
   * @param margin blocks that are read besides, as a node may be behind the one that showed it, or the block be taken back
   */
  waitFor(head: number, margin: number): void {
    this.#isOver = true;
    this.#awaited = { height: head + margin, head, saidAt: this.#monotonic() };
  }

  /** Takes in a try that nodes did not answer. @returns true where no other is made */
  fail(): boolean {
    const now = this.#monotonic();
    this.#failingSince ??= now;
    return ++this.#failed >= LEAST_TRIES && now - this.#failingSince >= SILENT_MS;
  }

  /** True where nodes are to be asked how long the chain is; forgets a height that is read. */
  asksHead(readSolid: number): boolean {
    if (this.#awaited === null) return false;
    if (readSolid >= this.#awaited.height) {
      this.#awaited = null;
      return false;
    }
    const now = this.#monotonic();
    if (now < this.#asksAt) return false;
    this.#asksAt = now + ASK_MS;
    return true;
  }

  /** Takes in how long the chain is: a block that no chain has is not waited for for ever. */
  recordHead(height: number): void {
    if (this.#awaited === null) return;
    const now = this.#monotonic();
    if (height >= this.#awaited.head) this.#awaited = { ...this.#awaited, saidAt: now };
    else if (now - this.#awaited.saidAt > KEPT_MS) {
      this.#awaited = { height, head: height, saidAt: now };
    }
  }
}
