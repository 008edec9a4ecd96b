import { assertEquals } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { ChainIdentity } from "../../chains/nodes/believed_nodes.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodeHealth } from "../../chains/nodes/node_health.ts";
import { PAPER_BLOCK } from "../support/paper_chain.ts";

Deno.test("a node that is believed and does not say its chain again takes a bounded part of the read that met it", async () => {
  let clock = 0;
  let asked = 0;
  const first = { ...PAPER_BLOCK, height: 0 };
  const identity = new ChainIdentity((_, __, ___, signal) => {
    asked++;
    if (asked === 1) return Promise.resolve(first);
    return new Promise((_, reject) => {
      signal?.addEventListener(
        "abort",
        () => reject(new ChainUnavailable("timeout", "Cannot read")),
      );
    });
  });
  const node = new ChainNode({ url: "http://node", requestTimeoutMs: 1 });
  const health = new NodeHealth(node, identity, () => clock, 1);
  const { signal } = new AbortController();
  await health.admit(signal);
  clock += 5 * 60_000;
  await health.admit(signal);
  assertEquals([asked, health.state.state], [2, "ready"]);
});
