import type { NodeState } from "../../chains/node_state.ts";

/** State of a node without faults, but for the changes of a test. */
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
