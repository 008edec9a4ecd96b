import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import { lagOf, STALE_HEAD_MS, type WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import { LONG_REST_MS } from "../../actors/watcher/call_rests.ts";
import { misdirectedDust } from "../../actors/watcher/misdirected_transfers.ts";
import { PROFILES } from "../../chains/profiles.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { registerFigures } from "./figures.ts";

/** Time that a network may be read behind what is final on it before it counts as lagging. */
const LAG_MS = 60_000;
/** A network that is silent for longer is reported. */
const SILENT_MS = 60_000;
/** A block that is unreadable for longer is reported. */
const UNREAD_MS = 60_000;

/**
 * Troubles with the scan of a network.
 *
 * @param now Unix milliseconds by the database's clock
 * @param monotonic milliseconds of the clock that the scan's own pauses go by
 */
export function chainReasons(
  engine: Pick<Engine, "nodes" | "watched">,
  network: Network,
  now: number,
  monotonic: number = performance.now(),
): string[] {
  const reasons = nodeReasons(engine.nodes(network), network);
  const status = engine.watched.get(network);
  if (status === undefined) return reasons;
  const lag = lagOf(status);
  const isRead = status.readSolidTime > 0;
  const lagMs = now - status.readSolidTime - PROFILES[network].pace.finalityMs;
  // a chain that makes no block is not read late
  if (isRead && lag > 0 && lagMs > LAG_MS) {
    reasons.push(`${network} is ${Math.round(lagMs / 1_000)} s behind, ${lag} blocks`);
  }
  if (awaitedBlocks(status) > 0) {
    reasons.push(
      `${network} signs nothing before block ${status.signsFrom} is read, ${
        awaitedBlocks(status)
      } are left`,
    );
  }
  if (status.comparison === "failing") {
    reasons.push(`${network} signs nothing before its newest blocks are compared with the books`);
  }
  if (monotonic - status.reachedAt > SILENT_MS + status.restMs) {
    reasons.push(`${network} cannot be reached`);
  }
  const { headReachedAt, restMs } = status;
  // with calls running out it is left alone on purpose, and that is said below
  const isHeadSeen = headReachedAt !== null && restMs < LONG_REST_MS;
  if (isHeadSeen && monotonic - headReachedAt > SILENT_MS + restMs) {
    reasons.push(`${network}'s newest blocks cannot be reached`);
  } else if (isHeadSeen && status.headAgeMs !== null && status.headAgeMs > STALE_HEAD_MS) {
    const minutes = Math.floor(status.headAgeMs / 60_000);
    reasons.push(`${network}'s newest blocks have not grown for ${minutes} minutes`);
  }
  if (status.stopped !== null) reasons.push(`${network} is read no further: ${status.stopped}`);
  const stuck = status.unreadable.find(({ view, since }) =>
    view === "solid" && now - since > UNREAD_MS
  );
  if (stuck !== undefined) {
    reasons.push(`${network} block ${stuck.height} cannot be read: ${stuck.reason}`);
  }
  if (status.restMs >= LONG_REST_MS) {
    reasons.push(`${network} is read slowly as today's calls of its nodes run out`);
  }
  return reasons;
}

/** Blocks that have to be read before anything is signed. */
function awaitedBlocks({ signsFrom, readSolid }: WatcherStatus): number {
  return Math.max(0, (signsFrom ?? 0) - readSolid);
}

/** A suspension from which on it is reported: shorter ones end before a person could look. */
const LONG_SUSPENSION_MS = 10_000;

/** Troubles with the nodes of a network. */
function nodeReasons(nodes: readonly NodeState[], network: Network): string[] {
  const reasons: string[] = [];
  for (const { name, state, unserved, suspendedMs, callsPerSecond } of nodes) {
    if (state === "wrong-chain") reasons.push(`${network}: node ${name} is of another chain`);
    for (const path of unserved) {
      reasons.push(`${network}: node ${name} does not serve ${path}`);
    }
    if (suspendedMs >= LONG_SUSPENSION_MS) {
      reasons.push(
        `${network}: node ${name} has suspended us for asking too much, it is asked ` +
          `${callsPerSecond} calls per second from then on`,
      );
    }
  }
  return reasons;
}

/** Registers how far each network is read, what holds it up, and how its nodes fare. */
export function registerChainMetrics(
  registry: Registry,
  engine: Pick<Engine, "networks" | "nodes" | "watched">,
  now: () => number,
  monotonic: () => number = () => performance.now(),
): void {
  const [since, sinceMonotonic] = [now(), monotonic()];
  // a network that was never reached is as far behind as this process is old
  const ages = () =>
    engine.networks.map((network) => {
      const { readSolidTime = 0, reachedAt = 0, headReachedAt = 0 } = engine.watched.get(network) ??
        {};
      const read = readSolidTime === 0 ? since : readSolidTime;
      const age = (at: number) => Math.max(0, monotonic() - (at === 0 ? sinceMonotonic : at));
      const headMs = headReachedAt === null ? null : age(headReachedAt);
      return [network, { readMs: now() - read, reachedMs: age(reachedAt), headMs }] as const;
    });
  registerFigures(registry, ages, {
    engine_chain_lag_seconds: ({ readMs }) => Math.max(0, readMs) / 1_000,
    engine_chain_reached_age_seconds: ({ reachedMs }) => reachedMs / 1_000,
    engine_chain_head_reached_age_seconds: ({ headMs }) => headMs === null ? null : headMs / 1_000,
  });
  const paces = () => engine.networks.map((network) => [network, PROFILES[network].pace] as const);
  registerFigures(registry, paces, {
    engine_chain_finality_seconds: ({ finalityMs }) => finalityMs / 1_000,
  });
  registerFigures(registry, () => engine.watched, {
    engine_chain_lag_blocks: lagOf,
    engine_chain_awaited_blocks: awaitedBlocks,
    engine_chain_solid_height: (one) => one.chainSolid,
    engine_chain_read_height: (one) => one.readSolid,
    engine_chain_head_height: (one) => one.readHead,
    engine_chain_head_unchanged_seconds: ({ headAgeMs }) =>
      headAgeMs === null ? null : headAgeMs / 1_000,
    engine_chain_blocks_read_total: (one) => one.blocksRead,
    engine_chain_unreadable_blocks: (one) => one.unreadable.length,
    engine_chain_scan_stopped: (one) => one.stopped === null ? 0 : 1,
    engine_chain_scan_rest_seconds: (one) => one.restMs / 1_000,
  });
  registerFigures(registry, misdirectedDust, { engine_misdirected_dust_total: (count) => count });
  const byNode = () =>
    engine.networks.flatMap((network) =>
      engine.nodes(network).map((state) => [[network, state.name], state] as const)
    );
  registerFigures(registry, byNode, {
    engine_node_usable: ({ state }) => state === "ready" || state === "quota-used-up" ? 1 : 0,
    engine_node_calls_today: (state) => state.callsToday,
    engine_node_calls_limit: (state) => state.dailyCalls,
    engine_node_calls_per_second: (state) => state.callsPerSecond,
    engine_node_suspended_seconds: (state) => state.suspendedMs / 1_000,
    engine_node_cooling_calls: (state) => state.coolingCalls,
    engine_node_unserved_calls: (state) => state.unserved.length,
  });
}
