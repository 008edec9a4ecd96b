import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { BlockRef, Chain } from "../../chains/chain.ts";
import { blockTime } from "../../chains/block_clock.ts";
import type { EndProofs } from "../../ledger/watcher/end_proofs.ts";
import type { UnreadableBlock } from "../../ledger/watcher/unreadable_blocks.ts";
import { CallRests, LONG_REST_MS } from "./call_rests.ts";
import { type ComparisonState, HeadComparison } from "./head_comparison.ts";
import { KeptBlocks } from "./kept_blocks.ts";
import { UnreadableBlocks } from "./unreadable_blocks.ts";

/** State of a network's scan, for health, metrics and operators. */
export interface WatcherStatus {
  /** Height of the newest solid block that any node ever said the chain had. */
  readonly chainSolid: number;
  /** Height of the newest solid block that was read, and its time, Unix milliseconds. */
  readonly readSolid: number;
  readonly readSolidTime: number;
  /**
   * Height that the solid cursor has to have reached before anything is signed: what nodes said at first was the newest one,
   * and what this process has read, as a database that was set back lacks what left wallets since; and the blocks whose newest
   * show that the books lack it. Null: not known yet.
   */
  readonly signsFrom: number | null;
  /** State of the comparison of newest blocks with the books: nothing is signed before it is over. */
  readonly comparison: ComparisonState;
  /** Height of the newest block that was seen; it may still change. */
  readonly readHead: number;
  /** Last time that the chain's solid blocks were reached, milliseconds of the monotonic clock; 0: never. */
  readonly reachedAt: number;
  /** The same of its newest blocks, at first the time at which it was begun to look; null: they are not looked at. */
  readonly headReachedAt: number | null;
  /** Time for which the newest block that nodes say has not grown, milliseconds; null: it is not looked at. */
  readonly headAgeMs: number | null;
  /** False while newest blocks are not read up to the last one, so that nothing is known of what they hold. */
  readonly isHeadRead: boolean;
  /** Blocks read since the start. */
  readonly blocksRead: number;
  /** Set while many blocks are left to read. */
  readonly catchUp: CatchUp | null;
  /** Reason for which the scan does not go on by itself; an operator has to look. */
  readonly stopped: string | null;
  /** Blocks that no node gives whole. */
  readonly unreadable: readonly UnreadableBlock[];
  /** Time for which both views rest so that nodes' calls last the day, milliseconds. */
  readonly restMs: number;
}

/** Progress of catching up. */
interface CatchUp {
  readonly perSecond: number;
  readonly left: number;
}

/** Blocks that a scan has yet to read; a node that fell behind makes it no less than none. */
export function lagOf({ chainSolid, readSolid }: WatcherStatus): number {
  return Math.max(0, chainSolid - readSolid);
}

/** True where nothing is signed as the scan has yet to read blocks, or was not begun. */
export function isBehindSigning(
  status: Pick<WatcherStatus, "signsFrom" | "readSolid" | "comparison"> | undefined,
): boolean {
  const from = status?.signsFrom ?? null;
  return status === undefined || from === null || status.readSolid < from ||
    status.comparison !== "over";
}

/** True where newest blocks are left out on purpose, so that nothing of what they hold is marked. */
export function leavesHeadOut(
  { headReachedAt, restMs }: Pick<WatcherStatus, "headReachedAt" | "restMs">,
): boolean {
  return headReachedAt === null || restMs >= LONG_REST_MS;
}

/** Time after which a newest height that does not grow is reported: the nodes may be stuck, or the chain. */
export const STALE_HEAD_MS = 5 * 60_000;

/** One network's chain, and what its scan and its view of the head share. */
export interface Watched {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly memory: ScanMemory;
  /** Proofs that ends of large transfers need; null, or absent: a node's word is enough. */
  readonly proofs?: EndProofs | null;
  /** Called with merchants whose inboxes have rows. */
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
}

/** Number of blocks that a chain makes in a time. */
export function blocksIn(
  ms: number,
  { capabilities: { blockMs } }: Pick<Chain, "capabilities">,
): number {
  return Math.ceil(ms / blockMs);
}

/** Time whose blocks are left to read from which on that is called catching up. */
const FAR_BEHIND_MS = 5 * 60_000;
/** Interval at which progress is logged. */
const LOG_MS = 5_000;

/** The parts of a chain that the memory of its scan goes by. */
type ScannedChain = Pick<Chain, "network" | "capabilities">;

/** Measures catching up, and logs it every few seconds. */
class ScanProgress {
  readonly #monotonic: () => number;
  readonly #place;
  readonly #farBehind: number;
  #began: { readonly at: number; readonly height: number } | null = null;
  #logged = { at: 0, height: 0 };
  #state: CatchUp | null = null;

  constructor(chain: ScannedChain, monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#place = { network: chain.network };
    this.#farBehind = blocksIn(FAR_BEHIND_MS, chain);
  }

  /** Present state; null while the scan is in step. */
  get state(): CatchUp | null {
    return this.#state;
  }

  /** Takes in how far the scan is. @param newest solid block of the chain */
  record(height: number, newest: number): void {
    const at = this.#monotonic();
    const left = Math.max(0, newest - height);
    if (this.#began === null) {
      if (left < this.#farBehind) return;
      this.#began = this.#logged = { at, height };
      this.#state = { perSecond: 0, left };
      logEvent("chain.catching_up", { ...this.#place, height, left });
      return;
    }
    if (left === 0) {
      const seconds = Math.max(1, Math.round((at - this.#began.at) / 1_000));
      const blocks = height - this.#began.height;
      logEvent("chain.caught_up", { ...this.#place, height, blocks, seconds });
      this.#began = this.#state = null;
      return;
    }
    const passed = at - this.#logged.at;
    if (passed < LOG_MS) {
      this.#state = { perSecond: this.#state?.perSecond ?? 0, left };
      return;
    }
    const perSecond = (height - this.#logged.height) / (passed / 1_000);
    this.#state = { perSecond, left };
    this.#logged = { at, height };
    logEvent("chain.progress", {
      ...this.#place,
      height,
      perSecond: Math.round(perSecond),
      left,
      rest: perSecond < 1 ? "" : `, about ${Math.ceil(left / perSecond)} s`,
    });
  }
}

/** A solid block's place and time. */
type SolidPlace = Pick<BlockRef, "height" | "time">;

/** A block that was seen; without a hash it was passed unread, so the next one cannot be compared. */
export interface SeenBlock {
  readonly height: number;
  readonly hash: string | null;
}

/** Time for which a height counts that only one poll ever saw: a node that lied once is not believed for ever. */
const KEPT_MS = 10 * 60_000;

/**
 * Memory of a network's two views besides their rows. It is kept while their actors are reloaded;
 * nothing that moves money rests on it. Each view writes what is its own: the scan all that it has
 * read and why it stands, the head view its last block; both count their calls in the same rests.
 * Fields that {@linkcode WatcherStatus} has too mean the same there.
 */
export class ScanMemory {
  readonly progress: ScanProgress;
  readonly unreadable: UnreadableBlocks;
  /** Blocks that the head view has read, for the scan. */
  readonly kept: KeptBlocks;
  chainSolid = 0;
  /**
   * The part of {@linkcode WatcherStatus.signsFrom} that solid blocks tell, and the time at which every solid block of then was
   * made, at the latest.
   */
  #signsFrom: SolidPlace | null = null;
  readonly comparison: HeadComparison;
  /** Last time that a node said that the chain was so long. */
  #chainSolidAt = 0;
  readSolid = 0;
  readSolidTime = 0;
  /** Batches that the books have signed for the network, as last read; null: not read yet. */
  signedBatches: bigint | null = null;
  reachedAt = 0;
  headReachedAt: number | null;
  blocksRead = 0;
  stopped: string | null = null;
  readonly rests: CallRests;
  /** Time of the monotonic clock from which on each view is looked at again. */
  readonly dueAt = { head: -Infinity, solid: -Infinity };
  /** Head's last block; null: it is seen again from the solid block up. */
  head: SeenBlock | null = null;
  /** Begin (monotonic clock) of nodes saying that the chain is shorter than what the head has seen; null: they do not. */
  headAboveSince: number | null = null;
  /** Marks of own transactions above what is read next may be another branch's. */
  hasDoubt = false;
  /** All newest blocks were read at the last look. */
  isHeadRead = false;
  /** Last look at marks above the newest block: time of the monotonic clock, and that block's height. */
  farMarks: { readonly at: number; readonly height: number | null } = {
    at: -Infinity,
    height: null,
  };
  /** The newest block as nodes last said it, and the last time that it was above the one before and the solid one. */
  #newest = { height: 0, grewAt: 0 };

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(chain: ScannedChain, readonly monotonic: () => number) {
    this.progress = new ScanProgress(chain, monotonic);
    this.kept = new KeptBlocks(chain.capabilities.keptHeadBlocks ?? 0);
    this.rests = new CallRests(monotonic);
    this.comparison = new HeadComparison(monotonic);
    this.unreadable = new UnreadableBlocks(chain.network, monotonic);
    this.#newest.grewAt = monotonic();
    // a process may be hours old when it begins to look
    this.headReachedAt = monotonic();
  }

  /** Takes in the newest height that nodes say. */
  recordHead(height: number, solid: number): void {
    const now = this.monotonic();
    this.headReachedAt = now;
    if (height > this.#newest.height && height >= solid) this.#newest.grewAt = now;
    this.#newest.height = height;
  }

  /** Time since the newest block last grew, milliseconds. */
  get #headAgeMs(): number {
    return this.monotonic() - this.#newest.grewAt;
  }

  /** True where newest blocks are read, or left out on purpose. */
  get #knowsHead(): boolean {
    if (leavesHeadOut({ headReachedAt: this.headReachedAt, restMs: this.rests.ms })) return true;
    return this.isHeadRead && this.#headAgeMs < STALE_HEAD_MS;
  }

  /**
   * True where the scan has read what nodes said at first that the chain had, or a block that was made after they said it, so that
   * the blocks above are compared.
   */
  get isScanReached(): boolean {
    const from = this.#signsFrom;
    return from !== null && (this.readSolid >= from.height || this.readSolidTime > from.time);
  }

  get status(): WatcherStatus {
    const { chainSolid, readSolid, readSolidTime, blocksRead, stopped } = this;
    return {
      chainSolid,
      readSolid,
      readSolidTime,
      signsFrom: this.#signsFrom === null ? null : Math.max(
        this.isScanReached ? 0 : this.#signsFrom.height,
        this.comparison.awaited,
        readSolid,
      ),
      comparison: this.comparison.state,
      readHead: Math.max(readSolid, this.head?.height ?? 0),
      reachedAt: this.reachedAt,
      headReachedAt: this.headReachedAt,
      headAgeMs: this.headReachedAt === null ? null : this.#headAgeMs,
      isHeadRead: this.#knowsHead,
      blocksRead,
      catchUp: this.progress.state,
      stopped,
      unreadable: this.unreadable.all,
      restMs: this.rests.ms,
    };
  }

  /** Takes in up to where solid blocks are read. A cursor that went back is of a database that was set back. */
  recordRead(height: number, time: number): void {
    if (this.#signsFrom !== null && height < this.readSolid) {
      // what was not read yet stays what is waited for
      if (this.isScanReached) {
        this.#signsFrom = { height: this.readSolid, time: this.readSolidTime };
      }
      this.comparison.begin();
    }
    this.readSolid = height;
    this.readSolidTime = time;
    this.comparison.recordRead(height, time);
  }

  /**
   * Takes in how many batches the books have signed. Fewer than before are those of a database that was set back, wherever its
   * cursor stands: on Ethereum one place of it serves for six minutes.
   *
   * @param before what was known before they were read: what is signed meanwhile may be told first
   */
  recordSigned(batches: bigint, before: bigint | null): void {
    const isSetBack = before !== null && batches < before;
    if (isSetBack) {
      this.comparison.begin();
      this.dueAt.solid = -Infinity;
    }
    if (isSetBack || batches > (this.signedBatches ?? -1n)) this.signedBatches = batches;
  }

  /** Takes in the newest solid height that a node says. One that fell behind does not make the chain shorter. */
  recordChainSolid({ height, time }: SolidPlace): void {
    const now = this.monotonic();
    const isOld = now - this.#chainSolidAt > KEPT_MS;
    if (height < this.chainSolid && !isOld) return;
    this.chainSolid = Math.max(height, this.readSolid);
    this.#chainSolidAt = now;
    // a node that has named a block which no chain has is not waited for for ever either
    if (this.chainSolid < (this.#signsFrom?.height ?? Infinity)) {
      // a node can give a block that no chain has any time: one that is long ago would be reached at once
      this.#signsFrom = { height: this.chainSolid, time: Math.max(time, blockTime()) };
    }
  }
}
