import type { NodeState } from "../../chains/chain.ts";

/** How a node fares that nothing is wrong with, but for what a test says. */
export function nodeState(changes: Partial<NodeState> = {}): NodeState {
  return {
    name: "n",
    state: "ready",
    restingMs: 0,
    suspendedMs: 0,
    callsPerSecond: null,
    restingCalls: 0,
    unserved: [],
    callsToday: 0,
    dailyCalls: null,
    failure: null,
    ...changes,
  };
}
