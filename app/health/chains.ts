import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import { lagOf } from "../../actors/watcher/scan_memory.ts";
import { LONG_REST_MS } from "../../actors/watcher/watcher_actor.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { registerGauges } from "./figures.ts";

/** Blocks that a network may be behind before it counts as lagging. */
const LAG_BLOCKS = 20;
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
  if (lag > LAG_BLOCKS) reasons.push(`${network} is ${lag} blocks behind`);
  if (monotonic - status.reachedAt > SILENT_MS + status.restMs) {
    reasons.push(`${network} cannot be reached`);
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
): void {
  registerGauges(registry, ["network"], () => engine.watched, {
    chain_lag_blocks: ["Solid blocks of a network that are not read yet", lagOf],
    chain_solid_height: ["Newest solid block of a network", (one) => one.chainSolid],
    chain_read_height: ["Newest solid block that was read", (one) => one.readSolid],
    chain_head_height: ["Newest block that was seen", (one) => one.readHead],
    chain_blocks_read: ["Solid blocks read since the start", (one) => one.blocksRead],
    chain_catch_up_blocks_per_second: [
      "How fast a network is read while it is far behind, otherwise 0",
      (one) => one.catchUp?.perSecond ?? 0,
    ],
    chain_unread_blocks: ["Blocks that no node gives whole", (one) => one.unreadable.length],
    chain_scan_stopped: [
      "1 where solid blocks do not continue what was read",
      (one) => one.stopped === null ? 0 : 1,
    ],
    chain_scan_rest_seconds: [
      "Rest between two looks, so that the calls of nodes last the day",
      (one) => one.restMs / 1_000,
    ],
  });
  const byNode = () =>
    engine.networks.flatMap((network) =>
      engine.nodes(network).map((state) => [[network, state.name], state] as const)
    );
  registerGauges(registry, ["network", "node"], byNode, {
    chain_node_calls_today: ["Calls of this day (UTC)", (state) => state.callsToday],
    chain_node_calls_limit: ["Calls that are allowed per day", (state) => state.dailyCalls],
    chain_node_calls_per_second: [
      "Calls per second that a node is sent at most now",
      (state) => state.callsPerSecond,
    ],
    chain_node_suspended_seconds: [
      "For how much longer a node answers nothing, as it said itself",
      (state) => state.suspendedMs / 1_000,
    ],
    chain_node_cooling_calls: [
      "Single calls that a node could not answer and is not asked now",
      (state) => state.coolingCalls,
    ],
    chain_node_unserved_calls: [
      "Paths that a node said it does not serve",
      (state) => state.unserved.length,
    ],
    chain_node_usable: [
      "1 where a node is asked, 0 while it is left alone or not believed",
      ({ state }) => state === "ready" || state === "quota-used-up" ? 1 : 0,
    ],
  });
}
