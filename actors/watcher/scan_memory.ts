import type { Network } from "../../ledger/money/pair.ts";
import type { UnreadBlock } from "../../ledger/watcher/unread_blocks.ts";
import { ScanProgress } from "./scan_progress.ts";
import type { WatcherStatus } from "./watcher_status.ts";

/** A block that was seen; without a hash it was passed unread, so the next one cannot be compared. */
export interface SeenBlock {
  readonly height: number;
  readonly hash: string | null;
}

/** An unread block, and when this process asks for it again. */
export interface WaitingBlock extends UnreadBlock {
  /** Milliseconds of the monotonic clock: a clock that is set must not hold the scan. */
  readonly retryAt: number;
}

/** An unread block as it was read at a moment of the monotonic clock. */
export function waitingFrom(block: UnreadBlock, monotonic: number): WaitingBlock {
  return { ...block, retryAt: monotonic + block.waitMs };
}

/** How long a height counts that only one look ever saw: a node that lied once is not believed for ever. */
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
  unreadAt(view: UnreadBlock["view"], height: number): WaitingBlock | undefined {
    return this.unread.find((block) => block.view === view && block.height === height);
  }

  /** Whether it is too early to ask again for the block of a view at a height. */
  leavesAlone(view: UnreadBlock["view"], height: number): boolean {
    const waiting = this.unreadAt(view, height);
    return waiting !== undefined && waiting.retryAt > this.monotonic();
  }
}
