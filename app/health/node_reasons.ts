import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** A suspension from which on it is said: shorter ones end before anybody could look. */
const LONG_SUSPENSION_MS = 10_000;

/** Troubles with the nodes of a network. */
export function nodeReasons(nodes: readonly NodeState[], network: Network): string[] {
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
