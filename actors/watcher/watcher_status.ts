import type { Network } from "../../ledger/money/pair.ts";
import type { UnreadBlock } from "../../ledger/watcher/unread_blocks.ts";

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
  readonly unread: readonly UnreadBlock[];
  /** How long the scan rests between two looks so that nodes' calls last the day, milliseconds. */
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
