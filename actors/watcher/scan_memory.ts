import { getLogger } from "@logtape/logtape";
import type { Network } from "../../ledger/money/pair.ts";
import type { UnreadableBlock } from "../../ledger/watcher/unreadable_blocks.ts";

/** How a network's scan goes, for health, metrics and operators. */
export interface WatcherStatus {
  /** Height of the newest solid block that any node ever said the chain had. */
  readonly chainSolid: number;
  /** Height of the newest solid block that was read. */
  readonly readSolid: number;
  /** Time of that block, Unix milliseconds. */
  readonly readSolidTime: number;
  /** Height of the newest block that was seen; it may still change. */
  readonly readHead: number;
  /** When the chain was last reached, milliseconds of the monotonic clock. */
  readonly reachedAt: number;
  /** Blocks read since the start. */
  readonly blocksRead: number;
  /** Set while many blocks are left to read. */
  readonly catchUp: CatchUp | null;
  /** Why the scan does not go on by itself; somebody has to look. */
  readonly stopped: string | null;
  /** Blocks that no node gives whole. */
  readonly unread: readonly UnreadableBlock[];
  /** Time for which the scan rests between two looks so that nodes' calls last the day, milliseconds. */
  readonly restMs: number;
}

/** How catching up goes. */
export interface CatchUp {
  readonly perSecond: number;
  readonly left: number;
}

/** Blocks that a scan has yet to read; a node that fell behind makes it no less than none. */
export function lagOf({ chainSolid, readSolid }: WatcherStatus): number {
  return Math.max(0, chainSolid - readSolid);
}

/** Tells a network's status. */
export type TellStatus = (network: Network, status: WatcherStatus) => void;

const log = getLogger(["engine", "watcher"]);

/** Blocks behind from which on reading is called catching up: five minutes of a chain. */
const FAR_BEHIND = 100;
/** Interval at which progress is logged. */
const TELL_MS = 5_000;

/** Tells how catching up goes: every few seconds in the log, always to whoever asks. */
class ScanProgress {
  readonly #network: Network;
  readonly #monotonic: () => number;
  #began: { readonly at: number; readonly height: number } | null = null;
  #toldAt = 0;
  #toldHeight = 0;
  #state: CatchUp | null = null;

  constructor(network: Network, monotonic: () => number) {
    this.#network = network;
    this.#monotonic = monotonic;
  }

  /** What is known now; null while the scan is in step. */
  get state(): CatchUp | null {
    return this.#state;
  }

  /** Notes how far the scan is. @param target newest solid block of the chain */
  note(height: number, target: number): void {
    const now = this.#monotonic();
    const left = Math.max(0, target - height);
    if (this.#began === null) {
      if (left < FAR_BEHIND) return;
      this.#began = { at: now, height };
      this.#toldAt = now;
      this.#toldHeight = height;
      this.#state = { perSecond: 0, left };
      log.info("{network} catches up from block {height} on: {left} blocks", {
        network: this.#network,
        height,
        left,
      });
      return;
    }
    if (left === 0) return this.#end(height);
    const passed = now - this.#toldAt;
    if (passed < TELL_MS) {
      this.#state = { perSecond: this.#state?.perSecond ?? 0, left };
      return;
    }
    const perSecond = (height - this.#toldHeight) / (passed / 1_000);
    this.#state = { perSecond, left };
    this.#toldAt = now;
    this.#toldHeight = height;
    log.info("{network} catches up: block {height}, {perSecond} blocks/s, {left} left{rest}", {
      network: this.#network,
      height,
      perSecond: Math.round(perSecond),
      left,
      rest: perSecond < 1 ? "" : `, about ${Math.ceil(left / perSecond)} s`,
    });
  }

  #end(height: number): void {
    const { at, height: from } = this.#began ?? { at: this.#monotonic(), height };
    const seconds = Math.max(0.001, (this.#monotonic() - at) / 1_000);
    log.info("{network} has caught up at block {height}: {blocks} blocks in {seconds} s", {
      network: this.#network,
      height,
      blocks: height - from,
      seconds: Math.round(seconds),
    });
    this.#began = null;
    this.#state = null;
  }
}

/** A block that was seen; without a hash it was passed unread, so the next one cannot be compared. */
export interface SeenBlock {
  readonly height: number;
  readonly hash: string | null;
}

/** An unread block, and when this process asks for it again. */
export interface WaitingBlock extends UnreadableBlock {
  /** Milliseconds of the monotonic clock: a clock that is set must not hold the scan. */
  readonly retryAt: number;
}

/** An unread block as it was read at a moment of the monotonic clock. */
export function waitingFrom(block: UnreadableBlock, monotonic: number): WaitingBlock {
  return { ...block, retryAt: monotonic + block.waitMs };
}

/** Time for which a height counts that only one poll ever saw: a node that lied once is not believed for ever. */
const KEPT_MS = 10 * 60_000;

/**
 * What a scan knows besides its rows. It is kept while its actor is reloaded; nothing that moves
 * money rests on it.
 */
export class ScanMemory {
  readonly progress: ScanProgress;
  chainSolid = 0;
  /** When a node last said that the chain was so long. */
  #chainSolidAt = 0;
  readSolid = 0;
  readSolidTime = 0;
  /** When the chain was last reached, milliseconds of the monotonic clock; 0: never. */
  reachedAt = 0;
  blocksRead = 0;
  stopped: string | null = null;
  restMs = 0;
  /** Milliseconds of the monotonic clock. */
  restsUntil = 0;
  /** Head's last block; null: it is seen again from the solid block up. */
  head: SeenBlock | null = null;
  /** Since when (monotonic clock) nodes say that the chain is shorter than what the head has seen; null while they do not. */
  headAboveSince: number | null = null;
  /** Blocks that could not be read, as their rows say. */
  unread: readonly WaitingBlock[] = [];

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(network: Network, readonly monotonic: () => number) {
    this.progress = new ScanProgress(network, monotonic);
  }

  get status(): WatcherStatus {
    return {
      chainSolid: this.chainSolid,
      readSolid: this.readSolid,
      readSolidTime: this.readSolidTime,
      readHead: Math.max(this.readSolid, this.head?.height ?? 0),
      reachedAt: this.reachedAt,
      blocksRead: this.blocksRead,
      catchUp: this.progress.state,
      stopped: this.stopped,
      unread: this.unread,
      restMs: this.restMs,
    };
  }

  /** Notes the newest solid height that a node says. One that fell behind does not make the chain shorter. */
  noteSolid(height: number): void {
    const now = this.monotonic();
    const isOld = now - this.#chainSolidAt > KEPT_MS;
    if (height < this.chainSolid && !isOld) return;
    this.chainSolid = Math.max(height, this.readSolid);
    this.#chainSolidAt = now;
  }

  /** The unread block of a view at a height. */
  unreadAt(view: UnreadableBlock["view"], height: number): WaitingBlock | undefined {
    return this.unread.find((block) => block.view === view && block.height === height);
  }

  /** True where it is too early to ask again for the block of a view at a height. */
  leavesAlone(view: UnreadableBlock["view"], height: number): boolean {
    const waiting = this.unreadAt(view, height);
    return waiting !== undefined && waiting.retryAt > this.monotonic();
  }
}
