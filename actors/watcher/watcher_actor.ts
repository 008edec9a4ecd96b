/**
 * One actor per network that reads its blocks. Two cursors: `head` only tells what was seen,
 * `solid` alone moves money. What a block says is written to the merchants' inboxes first, then the
 * cursor moves; after a crash in between the same rows are written again and change nothing.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Block, BlockRef, Chain, Finality } from "../../chains/chain.ts";
import type { Network } from "../../ledger/pair.ts";
import { type Cursor, moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { isAway } from "../runtime/is_away.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { recordBlocks } from "./record_blocks.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks that are read and written together while catching up. */
const CHUNK = 20;
/** Blocks of one turn; then the mailbox is looked at again. */
const TURN = 200;

/** What a watcher is told. */
export interface WatcherMessage {
  readonly type: "tick";
}

/** How far a network was read, for health and metrics. */
export interface WatcherStatus {
  /** Height of the newest solid block the chain had at the last look. */
  readonly chainSolid: number;
  /** Height of the newest solid block that was read. */
  readonly readSolid: number;
  /** When the chain was last reached, Unix milliseconds. */
  readonly reachedAt: number;
}

/** What watchers work with. */
export interface WatcherDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Says that merchants' inboxes have rows. */
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Says that the solid cursor moved. */
  readonly onSolid: (network: Network) => void;
  readonly onStatus: (network: Network, status: WatcherStatus) => void;
}

/** The kind of actor that reads one network each. */
export function watcherActors(deps: WatcherDeps): ActorKind<WatcherMessage> {
  return {
    name: "watcher",
    mailboxCapacity: 4,
    idleMs: null,
    isTransient: isAway,
    activate: (id) => {
      const chain = [...deps.chains.values()].find(({ network }) => network === id);
      if (chain === undefined) throw new Error(`Cannot watch a network as it is unknown: ${id}`);
      return Promise.resolve(new WatcherActor(chain, deps));
    },
  };
}

class WatcherActor implements Actor<WatcherMessage> {
  readonly #chain: Chain;
  readonly #deps: WatcherDeps;
  /** Head's last block; kept in memory, because nothing rests on it. */
  #head: BlockRef | null = null;

  constructor(chain: Chain, deps: WatcherDeps) {
    this.#chain = chain;
    this.#deps = deps;
  }

  async receive(_message: WatcherMessage): Promise<void> {
    const solid = await this.#readSolid();
    await this.#readHead(solid);
  }

  /** Reads solid blocks from the cursor on, never skipping one, however long we were away. */
  async #readSolid(): Promise<Cursor> {
    const { sql, now, onStatus } = this.#deps;
    const { network } = this.#chain;
    const newest = await this.#chain.solid();
    let cursor = await readCursor(sql, network, "solid") ?? await this.#begin(newest);
    const target = Math.min(newest.height, cursor.height + TURN);
    let chunk: Block[] = [];
    for await (const answer of this.#chain.blocks(cursor.height + 1, target, "solid")) {
      if (answer.kind !== "block") {
        log.info("{network} block {height} is not readable yet ({kind}), waiting for it", {
          network,
          ...answer,
        });
        break;
      }
      const parent = chunk.at(-1) ?? cursor;
      if (answer.block.parentHash !== parent.hash) {
        throw new Error(
          `Cannot read on as a solid block does not continue the chain: ${network} ${answer.block.height}`,
        );
      }
      chunk.push(answer.block);
      if (chunk.length === CHUNK) {
        cursor = await this.#record(cursor, chunk);
        chunk = [];
      }
    }
    if (chunk.length > 0) cursor = await this.#record(cursor, chunk);
    const lag = newest.height - cursor.height;
    if (lag > TURN) log.info("{network} is catching up: {lag} blocks behind", { network, lag });
    onStatus(network, {
      chainSolid: newest.height,
      readSolid: cursor.height,
      reachedAt: now(),
    });
    return cursor;
  }

  /** First start: no address was handed out before this block. */
  async #begin(newest: BlockRef): Promise<Cursor> {
    const { sql } = this.#deps;
    const { network } = this.#chain;
    const { height, hash, time } = newest;
    await moveCursor(sql, network, "solid", null, { height, hash, time, previousTime: time });
    const cursor = await readCursor(sql, network, "solid");
    if (cursor === null) throw new Error(`Cannot begin to watch as no cursor was kept: ${network}`);
    log.info("{network} is watched from block {height} on", { network, height: cursor.height });
    return cursor;
  }

  async #record(cursor: Cursor, blocks: readonly Block[]): Promise<Cursor> {
    const { sql, wakeMerchants, onSolid } = this.#deps;
    const { network } = this.#chain;
    const told = await recordBlocks(sql, this.#chain, blocks, "solid");
    crashPoint("watcher.after-inbox");
    const last = blocks[blocks.length - 1] as Block;
    const previousTime = blocks.at(-2)?.time ?? cursor.time;
    const next = { height: last.height, hash: last.hash, time: last.time, previousTime };
    if (!await moveCursor(sql, network, "solid", cursor.height, next)) {
      throw new Error(`Cannot move the cursor as another node did: ${network} ${cursor.height}`);
    }
    crashPoint("watcher.after-cursor");
    if (told.size > 0) wakeMerchants(told);
    onSolid(network);
    return next;
  }

  /** Reads the blocks above the solid ones; they may still change, so they only inform. */
  async #readHead(solid: Cursor): Promise<void> {
    const newest = await this.#chain.head();
    const known = this.#head;
    if (
      known !== null && (newest.height < known.height ||
        (newest.height === known.height && newest.hash !== known.hash))
    ) {
      this.#head = null;
    }
    let last = this.#head !== null && this.#head.height >= solid.height ? this.#head : solid;
    if (newest.height - last.height > TURN) return; // still catching up: solid blocks tell it all
    for await (const answer of this.#chain.blocks(last.height + 1, newest.height, "head")) {
      if (answer.kind !== "block") break;
      if (answer.block.parentHash !== last.hash) {
        // the head was rebuilt: what it had is told again from the solid block up
        log.info("{network} was reorganised below block {height}", {
          network: this.#chain.network,
          height: answer.block.height,
        });
        this.#head = null;
        return;
      }
      last = answer.block;
      const told = await this.#see(answer.block, "head");
      if (told.size > 0) this.#deps.wakeMerchants(told);
      const { height, hash, parentHash, time } = answer.block;
      this.#head = { height, hash, parentHash, time };
    }
  }

  async #see(block: Block, view: Finality): Promise<ReadonlySet<string>> {
    return await recordBlocks(this.#deps.sql, this.#chain, [block], view);
  }
}
