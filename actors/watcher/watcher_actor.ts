/**
 * One actor per network that reads its blocks. Two cursors: `head` only says what was seen, `solid`
 * alone moves money. What a block says is written to the merchants' inboxes first, then the cursor
 * moves; after a crash in between the same rows are written again and change nothing.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Chain, Finality } from "../../chains/chain.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor, storeContracts } from "../../ledger/watcher/cursor.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { isAway } from "../runtime/is_away.ts";
import { viewHead } from "./head_view.ts";
import {
  callsLeft,
  restAfter,
  ScanMemory,
  type Watched,
  type WatcherStatus,
} from "./scan_memory.ts";
import { scanSolid } from "./solid_scan.ts";

/** A rest from which on the operator learns that calls run low. */
export const LONG_REST_MS = 15_000;

/** A poll may come by so much before a view is due, as timers are not exact. */
const EARLY_MS = 250;

/** Pauses between two looks at the views of a chain, milliseconds. */
export interface ViewPace {
  /** Null: blocks are final faster than a look, so that nothing is left to see of the head. */
  readonly headMs: number | null;
  readonly solidMs: number;
}

/** Messages of a watcher. */
export interface WatcherMessage {
  readonly type: "tick";
}

/** Dependencies of watchers. */
export interface WatcherDeps extends Pick<Watched, "sql" | "wakeMerchants"> {
  readonly chains: ReadonlyMap<Network, Chain>;
  /** Pace of the views of a network; without one both are looked at by every message. */
  readonly views?: (network: Network) => ViewPace | undefined;
  /** State of the nodes of a network; empty where it is not counted. */
  readonly nodes: (network: Network) => readonly NodeState[];
  /** Unix milliseconds, for the hour of the day alone. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Called when the solid cursor has moved. */
  readonly onSolid: (network: Network) => void;
  readonly onStatus: (network: Network, status: WatcherStatus) => void;
  /** Asks for another turn at once: there is more to read. */
  readonly again: (network: Network) => void;
}

/** The kind of actor that reads one network each. */
export function watcherActors(deps: WatcherDeps): ActorKind<WatcherMessage> {
  const memories = new Map<Network, ScanMemory>();
  const chainOf = (id: string) => [...deps.chains.values()].find(({ network }) => network === id);
  return {
    name: "watcher",
    // one more poll after the present one is all there is to ask for
    mailboxCapacity: 1,
    idleMs: null,
    isTransient: isAway,
    // a node that refuses only what others ask of it would be at rest whenever this came by
    coolDownMs: (id) => {
      const chain = chainOf(id);
      if (chain === undefined) return 0;
      const rests = deps.nodes(chain.network).map(({ coolDownMs }) => coolDownMs);
      return rests.length === 0 ? 0 : Math.min(...rests);
    },
    activate: async (id) => {
      const chain = chainOf(id);
      if (chain === undefined) throw new Error(`Cannot watch a network as it is unknown: ${id}`);
      const { network, capabilities: { contracts } } = chain;
      const { sql, monotonic = () => performance.now() } = deps;
      const memory = memories.get(network) ?? new ScanMemory(chain, monotonic);
      memories.set(network, memory);
      await memory.unreadable.recall(sql);
      if (contracts !== undefined) await storeContracts(sql, network, contracts);
      // the view goes on where it was before the service ended
      memory.head ??= await readCursor(sql, network, "head");
      return new WatcherActor(chain, deps, memory);
    },
  };
}

class WatcherActor implements Actor<WatcherMessage> {
  readonly #deps: WatcherDeps;
  readonly #watched: Watched;

  constructor(chain: Chain, deps: WatcherDeps, memory: ScanMemory) {
    const { sql, wakeMerchants } = deps;
    this.#deps = deps;
    this.#watched = { sql, chain, memory, wakeMerchants };
  }

  async receive(_message: WatcherMessage): Promise<void> {
    const { memory } = this.#watched;
    if (memory.monotonic() < memory.restsUntil) return;
    const before = this.#callsToday();
    try {
      await this.#poll();
    } finally {
      this.#rest(Math.max(0, this.#callsToday() - before));
      if (memory.reachedAt > 0) this.#reportStatus();
    }
  }

  async #poll(): Promise<void> {
    const { chain: { network }, memory } = this.#watched;
    const onSolid = () => {
      this.#reportStatus();
      this.#deps.onSolid(network);
    };
    const { headMs = 0, solidMs = 0 } = this.#deps.views?.(network) ?? {};
    const now = memory.monotonic();
    let cursor: Cursor | null = null;
    if (this.#isDue("solid", now)) {
      const scanned = await scanSolid({ ...this.#watched, onSolid });
      const { hasMore } = scanned;
      cursor = scanned.cursor;
      // what is left to read is due at once
      memory.dueAt.solid = hasMore ? -Infinity : now + solidMs;
      if (hasMore) this.#deps.again(network);
    }
    // with calls running out, what only informs goes first
    if (headMs === null || !this.#isDue("head", now) || memory.restMs >= LONG_REST_MS) return;
    cursor ??= await readCursor(this.#watched.sql, network, "solid");
    if (cursor === null) return;
    await viewHead(this.#watched, cursor);
    memory.dueAt.head = now + headMs;
  }

  #isDue(view: Finality, now: number): boolean {
    return now >= this.#watched.memory.dueAt[view] - EARLY_MS;
  }

  #reportStatus(): void {
    const { chain, memory } = this.#watched;
    this.#deps.onStatus(chain.network, memory.status);
  }

  #callsToday(): number {
    const nodes = this.#deps.nodes(this.#watched.chain.network);
    return nodes.reduce((sum, node) => sum + node.callsToday, 0);
  }

  /** Spreads what is left of today's calls over what is left of the day. */
  #rest(used: number): void {
    const { nodes, now } = this.#deps;
    const { chain: { network }, memory } = this.#watched;
    const calls = callsLeft(nodes(network));
    const rest = restAfter(calls, used, memory.progress.state !== null, now());
    if (rest >= LONG_REST_MS && memory.restMs < LONG_REST_MS) {
      logEvent("chain.slowed", { network, seconds: Math.round(rest / 1_000), ...calls });
    }
    memory.restMs = rest;
    memory.restsUntil = memory.monotonic() + rest;
  }
}
