import type { Engine } from "../../actors/engine.ts";
import { LONG_REST_MS } from "../../actors/watcher/watcher_actor.ts";
import { lagOf } from "../../actors/watcher/scan_memory.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { nodeReasons } from "./node_reasons.ts";

/** Blocks that a network may be behind before it counts as lagging. */
const LAG_BLOCKS = 20;
/** How long a network may be silent before it is said. */
const SILENT_MS = 60_000;
/** How long a block may be unread before it is said. */
const UNREAD_MS = 60_000;

/**
 * What is not as it should be with the scan of a network.
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
  const stuck = status.unread.find(({ view, since }) =>
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
