import type { Network } from "../../ledger/pair.ts";
import type { UnreadBlock } from "../../ledger/watcher/unread_blocks.ts";
import { ScanProgress } from "./scan_progress.ts";
import type { WatcherStatus } from "./watcher_status.ts";

/** A block that was seen; without a hash it was passed unread, so the next one cannot be compared. */
export interface SeenBlock {
  readonly height: number;
  readonly hash: string | null;
}

/**
 * What a scan knows besides its rows. It is kept while its actor is reloaded; nothing that moves
 * money rests on it.
 */
export class ScanMemory {
  readonly progress: ScanProgress;
  chainSolid = 0;
  readSolid = 0;
  readSolidTime = 0;
  reachedAt = 0;
  blocksRead = 0;
  stopped: string | null = null;
  restMs = 0;
  restsUntil = 0;
  /** Head's last block; null: it is seen again from the solid block up. */
  head: SeenBlock | null = null;
  /** Blocks that could not be read, as their rows say. */
  unread: readonly UnreadBlock[] = [];

  constructor(network: Network, now: () => number) {
    this.progress = new ScanProgress(network, now);
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

  /** The unread block of a view at a height. */
  unreadAt(view: UnreadBlock["view"], height: number): UnreadBlock | undefined {
    return this.unread.find((block) => block.view === view && block.height === height);
  }
}
