import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { NodeState } from "../../chains/node_state.ts";

/** Registers what the nodes of each network were asked, and how they fare. */
export function registerNodeMetrics(
  registry: Registry,
  engine: Pick<Engine, "networks" | "nodes">,
): void {
  const perNode = (name: string, help: string, read: (state: NodeState) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ["network", "node"],
      registers: [registry],
      collect() {
        for (const network of engine.networks) {
          for (const state of engine.nodes(network)) {
            const value = read(state);
            if (value !== null) this.set({ network, node: state.name }, value);
          }
        }
      },
    });
  perNode("chain_node_calls_today", "Calls of this day (UTC)", (state) => state.callsToday);
  perNode("chain_node_calls_limit", "Calls that are allowed per day", (state) => state.dailyCalls);
  perNode(
    "chain_node_calls_per_second",
    "Calls per second that a node is sent at most now",
    (state) => state.callsPerSecond,
  );
  perNode(
    "chain_node_suspended_seconds",
    "For how much longer a node answers nothing, as it said itself",
    (state) => state.suspendedMs / 1_000,
  );
  perNode(
    "chain_node_cooling_calls",
    "Single calls that a node could not answer and is not asked now",
    (state) => state.coolingCalls,
  );
  perNode(
    "chain_node_unserved_calls",
    "Paths that a node said it does not serve",
    (state) => state.unserved.length,
  );
  perNode(
    "chain_node_usable",
    "1 where a node is asked, 0 while it is left alone or not believed",
    ({ state }) => state === "ready" || state === "quota-used-up" ? 1 : 0,
  );
}
