import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { BlockAnswer, Finality } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  dropUnreadable,
  listUnreadable,
  LONGEST_PAUSE_MS,
  storeUnreadable,
  type UnreadableBlock,
} from "../../ledger/watcher/unreadable_blocks.ts";

/** Pause before a block is asked for again; doubled with each try. Receipts are often a second late. */
const FIRST_PAUSE_MS = 250;
/** Tries after which it is no longer a matter of a moment. */
export const ALARM_TRIES = 10;

/** Time for which a block is left alone that could not be read so many times before, milliseconds. */
export function pauseAfter(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 20), LONGEST_PAUSE_MS);
}

/** A block that was asked for and is not whole. */
export type NotWhole = Exclude<BlockAnswer, { readonly kind: "block" }>;

/** An unreadable block, and when this process asks for it again. */
interface WaitingBlock extends UnreadableBlock {
  /** Milliseconds of the monotonic clock: a clock that is set must not hold the scan. */
  readonly retryAt: number;
}

/** Blocks of one network that could not be read, as their rows say. */
export class UnreadableBlocks {
  readonly #network: Network;
  readonly #monotonic: () => number;
  #all: readonly WaitingBlock[] = [];

  constructor(network: Network, monotonic: () => number) {
    this.#network = network;
    this.#monotonic = monotonic;
  }

  /** All of them. */
  get all(): readonly WaitingBlock[] {
    return this.#all;
  }

  /** Reads the rows of one view; what the other one has learned meanwhile stays. */
  async recall(sql: Sql, view: Finality): Promise<void> {
    const rows = (await listUnreadable(sql, this.#network)).filter((row) => row.view === view);
    const others = this.#all.filter((block) => block.view !== view);
    this.#all = [...others, ...rows.map((row) => this.#waiting(row))];
  }

  /** True where it is too early to ask again for the block of a view at a height. */
  leavesAlone(view: Finality, height: number): boolean {
    const waiting = this.#at(view, height);
    return waiting !== undefined && waiting.retryAt > this.#monotonic();
  }

  /** Puts a block on the list, or moves it back there. @returns its tries so far */
  async retryLater(sql: Sql, view: Finality, answer: NotWhole): Promise<number> {
    const network = this.#network;
    const { height } = answer;
    const known = this.#at(view, height);
    const pause = pauseAfter(known?.tries ?? 0);
    const reason = answer.kind === "incomplete" ? answer.reason : "no node has it";
    const block = await storeUnreadable(sql, { network, view, height, reason }, pause);
    this.#all = [...this.#all.filter((other) => other !== known), this.#waiting(block)];
    const { tries } = block;
    const facts = { network, view, height, reason, tries, pause };
    if (tries === 1) {
      logEvent("chain.block_waits", facts);
    } else if (tries === ALARM_TRIES) {
      logEvent("chain.block_unreadable", facts);
    }
    return tries;
  }

  /** Takes the blocks of a view off the list that are behind by now. */
  async passed(sql: Sql, view: Finality, upTo: number): Promise<void> {
    const isPassed = (block: UnreadableBlock) => block.view === view && block.height <= upTo;
    if (!this.#all.some(isPassed)) return;
    await dropUnreadable(sql, this.#network, view, { last: upTo });
    this.#all = this.#all.filter((block) => !isPassed(block));
  }

  /** Takes one block off the list: it was read. */
  async wasRead(sql: Sql, view: Finality, height: number): Promise<void> {
    const block = this.#at(view, height);
    if (block === undefined) return;
    await dropUnreadable(sql, this.#network, view, { first: height, last: height });
    this.#all = this.#all.filter((other) => other !== block);
  }

  #at(view: Finality, height: number): WaitingBlock | undefined {
    return this.#all.find((block) => block.view === view && block.height === height);
  }

  #waiting(block: UnreadableBlock): WaitingBlock {
    return { ...block, retryAt: this.#monotonic() + block.waitMs };
  }
}
