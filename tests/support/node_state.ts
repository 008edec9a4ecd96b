import type { NodeState } from "../../chains/node_state.ts";

/** How a node fares that nothing is wrong with, but for what a test says. */
export function nodeState(changes: Partial<NodeState> = {}): NodeState {
  return {
    name: "n",
    state: "ready",
    coolDownMs: 0,
    suspendedMs: 0,
    callsPerSecond: null,
    coolingCalls: 0,
    unserved: [],
    callsToday: 0,
    dailyCalls: null,
    failure: null,
    ...changes,
  };
}
