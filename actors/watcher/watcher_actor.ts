/**
 * Two actors per network that read its blocks, one for each view: a node that is slow or silent for one
 * view delays the other by nothing. `solid` alone moves money, `head` only says what was seen. What
 * a block says is written to the merchants' inboxes first, then the cursor moves; after a crash in
 * between the same rows are written again and change nothing.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Chain, Finality } from "../../chains/chain.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { storeContracts } from "../../ledger/watcher/cursor.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { Aside } from "../runtime/aside.ts";
import { isAway } from "../runtime/is_away.ts";
import { callsLeft, LONG_REST_MS } from "./call_rests.ts";
import { compareHead } from "./compare_head.ts";
import { goOnFromHead, viewHead } from "./head_view.ts";
import { isBehindSigning, ScanMemory, type Watched, type WatcherStatus } from "./scan_memory.ts";
import { scanSolid } from "./solid_scan.ts";

/** A poll may come by so much before a view is due, as timers are not exact. */
const EARLY_MS = 250;
/** Time that one look may take, milliseconds; what it has read until then is kept. */
const LOOK_MS: Readonly<Record<Finality, number>> = { head: 30_000, solid: 150_000 };

/** Pause between two tries to compare newest blocks with the books, which signing waits for; milliseconds. */
const COMPARE_MS = 1_000;

/** Pauses between two looks at the views of a chain, milliseconds. */
export interface ViewPace {
  /** Null: blocks are final faster than a look, so that nothing is left to see of the head. */
  readonly headMs: number | null;
  readonly solidMs: number;
}

export interface WatcherMessage {
  readonly type: "tick";
}

/** Dependencies of watchers. */
export interface WatcherDeps extends Pick<Watched, "sql" | "wakeMerchants"> {
  readonly chains: ReadonlyMap<Network, Chain>;
  /** Pace of the views of a network; without one each is looked at by every message. */
  readonly views?: (network: Network) => ViewPace | undefined;
  /** The amount above which a second node has to show that a transfer failed; null, or no function: one node's word is enough. */
  readonly proofAbove?: (network: Network) => Amount | null;
  /** State of the nodes of a network; empty where it is not counted. */
  readonly nodes: (network: Network) => readonly NodeState[];
  /** Unix milliseconds, for the hour of the day alone. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Called when the solid cursor has moved. */
  readonly onSolid: (network: Network) => void;
  readonly onStatus: (network: Network, status: WatcherStatus) => void;
  /** Asks for another turn of the scan at once: there is more to read. */
  readonly again: (network: Network) => void;
}

/** The kinds of actors that read one network each; they share what they know of it. */
export interface WatcherKinds {
  /** Reads what can never change. */
  readonly solid: ActorKind<WatcherMessage>;
  /** Sees what may still change. */
  readonly head: ActorKind<WatcherMessage>;
  /**
   * False where nothing may be signed for a network as its scan is behind, or the database was found to be set back.
   *
   * @param batches that were signed for it before, as just read
   */
  readonly maySign: (network: Network, batches: bigint) => boolean;
  /**
   * True while payouts of a network may be paid in blocks that its scan has yet to read, or that no scan here reads. The books
   * are asked: where nodes are silent nothing else tells that the database was set back.
   *
   * @param readBatches reads how many batches were signed for it
   */
  readonly holdsRefunds: (network: Network, readBatches: () => Promise<bigint>) => Promise<boolean>;
}

/** Makes the kinds of actors that read networks. */
export function watcherActors(deps: WatcherDeps): WatcherKinds {
  const memories = new Map<Network, ScanMemory>();
  const { sql, wakeMerchants, monotonic = () => performance.now() } = deps;
  const chainOf = (id: string) => [...deps.chains.values()].find(({ network }) => network === id);
  const watched = (id: string): Watched => {
    const chain = chainOf(id);
    if (chain === undefined) throw new Error(`Cannot watch a network as it is unknown: ${id}`);
    const memory = memories.get(chain.network) ?? new ScanMemory(chain, monotonic);
    memories.set(chain.network, memory);
    const above = deps.proofAbove?.(chain.network) ?? null;
    const proofs = above === null ? null : { above, testimonies: new Map() };
    return { sql, chain, memory, proofs, wakeMerchants };
  };
  const kind = (
    name: string,
    activate: (watched: Watched) => Promise<Look>,
    view: Finality,
  ): ActorKind<WatcherMessage> => ({
    name,
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
      const one = watched(id);
      return new ViewActor(view, one, deps, await activate(one));
    },
  });
  /** Takes in how many batches were signed, with what was known before. */
  const isBehind = (one: Watched, batches: bigint, before: bigint | null) => {
    one.memory.recordSigned(batches, before);
    reportStatus(one, deps);
    return isBehindSigning(one.memory.status);
  };
  return {
    solid: kind("watcher", (watched) => openScan(watched, deps), "solid"),
    head: kind("head_view", (watched) => openHeadView(watched, deps), "head"),
    maySign: (network, batches) => {
      const one = watched(network);
      return !isBehind(one, batches, one.memory.signedBatches);
    },
    holdsRefunds: async (network, readBatches) => {
      if (chainOf(network) === undefined) return true;
      const one = watched(network);
      const { signedBatches } = one.memory;
      return isBehind(one, await readBatches(), signedBatches);
    },
  };
}

/** One look at a view. @returns milliseconds after which the next one is due */
type Look = (signal: AbortSignal) => Promise<number>;

async function openScan(watched: Watched, deps: WatcherDeps): Promise<Look> {
  const { sql, chain: { network, capabilities: { contracts } }, memory } = watched;
  await memory.unreadable.recall(sql, "solid");
  if (contracts !== undefined) await storeContracts(sql, network, contracts);
  // nodes that are slow to show newest blocks delay no solid one
  const aside = new Aside();
  const compare = async (signal: AbortSignal) => {
    await compareHead(watched, signal);
    reportStatus(watched, deps);
  };
  return async (signal) => {
    let isReached = false;
    const onReached = () => {
      isReached = true;
      reportStatus(watched, deps);
    };
    const onSolid = () => {
      reportStatus(watched, deps);
      deps.onSolid(network);
    };
    let hasMore = false;
    try {
      ({ hasMore } = await scanSolid({ ...watched, onReached, onSolid }, signal));
    } finally {
      // nodes that answer nothing are no reason to let signing go on, and blocks that cannot be read none to hold it
      if (isReached) await aside.run(compare);
    }
    if (hasMore) deps.again(network);
    // what is left to read is due at once
    if (hasMore) return -Infinity;
    const { solidMs = 0 } = deps.views?.(network) ?? {};
    return memory.comparison.state === "over" ? solidMs : Math.min(solidMs, COMPARE_MS);
  };
}

async function openHeadView(watched: Watched, deps: WatcherDeps): Promise<Look> {
  const { chain: { network } } = watched;
  await goOnFromHead(watched);
  return async (signal) => {
    await viewHead(watched, signal);
    return deps.views?.(network)?.headMs ?? 0;
  };
}

/** Reports what is known, once the scan has reached the chain. */
function reportStatus({ chain, memory }: Watched, { onStatus }: WatcherDeps): void {
  if (memory.reachedAt > 0) onStatus(chain.network, memory.status);
}

/** Reads one view of one network, when it is due and calls are left. */
class ViewActor implements Actor<WatcherMessage> {
  readonly #view: Finality;
  readonly #watched: Watched;
  readonly #deps: WatcherDeps;
  readonly #look: Look;

  constructor(view: Finality, watched: Watched, deps: WatcherDeps, look: Look) {
    this.#view = view;
    this.#watched = watched;
    this.#deps = deps;
    this.#look = look;
  }

  async receive(_message: WatcherMessage): Promise<void> {
    const { memory, chain: { network } } = this.#watched;
    const { rests, dueAt } = memory;
    const at = memory.monotonic();
    if (this.#isLeftOut() || rests.isOn || at < dueAt[this.#view] - EARLY_MS) return;
    const nodes = () => this.#deps.nodes(network);
    rests.begin(nodes());
    const ended = new AbortController();
    const deadline = setTimeout(() => ended.abort(), LOOK_MS[this.#view]);
    try {
      dueAt[this.#view] = at + await this.#look(ended.signal);
    } finally {
      clearTimeout(deadline);
      const isLow = rests.end(nodes(), memory.progress.state !== null, this.#deps.now());
      const seconds = Math.round(rests.ms / 1_000);
      if (isLow) logEvent("chain.slowed", { network, seconds, ...callsLeft(nodes()) });
      reportStatus(this.#watched, this.#deps);
    }
  }

  /** With calls running out, what only informs goes first; where finality is faster than a look, it is never seen. */
  #isLeftOut(): boolean {
    if (this.#view === "solid") return false;
    const { memory, chain: { network } } = this.#watched;
    const isSeen = this.#deps.views?.(network)?.headMs !== null;
    if (!isSeen) memory.headReachedAt = null;
    return !isSeen || memory.rests.ms >= LONG_REST_MS;
  }
}
