/**
 * One actor per network that reads its blocks. Two cursors: `head` only tells what was seen,
 * `solid` alone moves money. What a block says is written to the merchants' inboxes first, then the
 * cursor moves; after a crash in between the same rows are written again and change nothing.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { storeContracts } from "../../ledger/watcher/scanned_ranges.ts";
import { listUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { isAway } from "../runtime/is_away.ts";
import { recallHead, viewHead } from "./head_view.ts";
import { callsLeft, restAfter } from "./rest.ts";
import { ScanMemory, type TellStatus, waitingFrom } from "./scan_memory.ts";
import { scanSolid } from "./solid_scan.ts";

const log = getLogger(["engine", "watcher"]);

/** A rest from which on the operator is told that calls run low. */
export const LONG_REST_MS = 15_000;

/** Messages of a watcher. */
export interface WatcherMessage {
  readonly type: "tick";
}

/** What watchers work with. */
export interface WatcherDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  /** How the nodes of a network fare; empty where nobody counts. */
  readonly nodes: (network: Network) => readonly NodeState[];
  /** Unix milliseconds, for the hour of the day alone. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Says that merchants' inboxes have rows. */
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Says that the solid cursor moved. */
  readonly onSolid: (network: Network) => void;
  readonly onStatus: TellStatus;
  /** Asks for another turn at once: there is more to read. */
  readonly again: (network: Network) => void;
}

/** The kind of actor that reads one network each. */
export function watcherActors(deps: WatcherDeps): ActorKind<WatcherMessage> {
  const memories = new Map<Network, ScanMemory>();
  const chainOf = (id: string) => [...deps.chains.values()].find(({ network }) => network === id);
  return {
    name: "watcher",
    // one more look after the present one is all there is to ask for
    mailboxCapacity: 1,
    idleMs: null,
    isTransient: isAway,
    // a node that refuses only what others ask of it would be at rest whenever this came by
    restMs: (id) => {
      const chain = chainOf(id);
      if (chain === undefined) return 0;
      const rests = deps.nodes(chain.network).map(({ coolDownMs }) => coolDownMs);
      return rests.length === 0 ? 0 : Math.min(...rests);
    },
    activate: async (id) => {
      const chain = chainOf(id);
      if (chain === undefined) throw new Error(`Cannot watch a network as it is unknown: ${id}`);
      const { network } = chain;
      const memory = memories.get(network) ??
        new ScanMemory(network, deps.monotonic ?? (() => performance.now()));
      memories.set(network, memory);
      const unread = await listUnreadable(deps.sql, network);
      memory.unread = unread.filter(({ view }) => view !== "again")
        .map((block) => waitingFrom(block, memory.monotonic()));
      const { contracts } = chain.capabilities;
      if (contracts !== undefined) await storeContracts(deps.sql, network, contracts);
      await recallHead({ sql: deps.sql, chain, memory });
      return new WatcherActor(chain, deps, memory);
    },
  };
}

class WatcherActor implements Actor<WatcherMessage> {
  readonly #chain: Chain;
  readonly #deps: WatcherDeps;
  readonly #memory: ScanMemory;

  constructor(chain: Chain, deps: WatcherDeps, memory: ScanMemory) {
    this.#chain = chain;
    this.#deps = deps;
    this.#memory = memory;
  }

  async receive(_message: WatcherMessage): Promise<void> {
    if (this.#memory.monotonic() < this.#memory.restsUntil) return;
    const before = this.#callsToday();
    try {
      await this.#poll();
    } finally {
      this.#rest(Math.max(0, this.#callsToday() - before));
      if (this.#memory.reachedAt > 0) this.#reportStatus();
    }
  }

  async #poll(): Promise<void> {
    const { sql, wakeMerchants, onSolid, again } = this.#deps;
    const chain = this.#chain;
    const memory = this.#memory;
    const { cursor, hasMore } = await scanSolid({
      sql,
      chain,
      memory,
      wakeMerchants,
      onSolid: () => {
        this.#reportStatus();
        onSolid(chain.network);
      },
    });
    // with calls running out, what only informs goes first
    if (memory.restMs < LONG_REST_MS) {
      await viewHead({ sql, chain, memory, wakeMerchants }, cursor);
    }
    if (hasMore) again(chain.network);
  }

  #reportStatus(): void {
    this.#deps.onStatus(this.#chain.network, this.#memory.status);
  }

  #callsToday(): number {
    return this.#deps.nodes(this.#chain.network).reduce((sum, node) => sum + node.callsToday, 0);
  }

  /** Spreads what is left of today's calls over what is left of the day. */
  #rest(used: number): void {
    const { nodes, now } = this.#deps;
    const { network } = this.#chain;
    const memory = this.#memory;
    const calls = callsLeft(nodes(network));
    const rest = restAfter(calls, used, memory.progress.state !== null, now());
    if (rest >= LONG_REST_MS && memory.restMs < LONG_REST_MS) {
      log.warn(
        "{network} is looked at every {seconds} s only: {left} of today's {limit} calls left",
        {
          network,
          seconds: Math.round(rest / 1_000),
          ...calls,
        },
      );
    }
    memory.restMs = rest;
    memory.restsUntil = memory.monotonic() + rest;
  }
}
