import { assertEquals } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { Deadline } from "../../chains/nodes/deadline.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";

function nodeOf(name: string, callsPerSecond: number): ChainNode {
  return new ChainNode({ url: `http://${name}.local`, requestTimeoutMs: 5_000, callsPerSecond });
}

function poolOf(...nodes: readonly ChainNode[]): NodePool {
  return new NodePool(nodes, {
    totalTimeoutMs: 5_000,
    blockAt: () => Promise.resolve(null),
  });
}

const AT_ONCE = { most: 3, othersMs: 20 };

/** A read that waits for so many turns of its node. */
function turns(count: number) {
  return async (node: ChainNode, signal: AbortSignal) => {
    for (let i = 0; i < count; i++) await node.turn("call", signal);
    return node.label;
  };
}

Deno.test("what a read of several nodes needs no more does not wait for turns of a slow one", async () => {
  const slow = nodeOf("slow", 1);
  const pool = poolOf(nodeOf("fast", 0), slow);
  let hadOfSlow = 0;
  const read = async (node: ChainNode, signal: AbortSignal) => {
    for (let i = 0; i < 3; i++) {
      await node.turn("call", signal);
      if (node === slow) hadOfSlow++;
    }
    return node.label;
  };
  assertEquals(await pool.readSeveral(read, AT_ONCE), ["fast.local"]);
  // the next turn goes to the first that still waits
  await slow.turn("call");
  assertEquals(hadOfSlow, 1);
});

Deno.test("an answer at hand is returned by the time that its caller has, although another node says nothing", async () => {
  const pool = poolOf(nodeOf("fast", 0), nodeOf("silent", 0));
  const read = (node: ChainNode, signal: AbortSignal) =>
    node.label === "fast.local" ? Promise.resolve(node.label) : new Promise<string>((_, reject) => {
      signal.addEventListener("abort", () => reject(new ChainUnavailable("timeout", "Cannot ask")));
    });
  // without it, what has come is returned when the whole read has no time left
  using caller = new Deadline(4_000);
  const terms = { signal: caller.signal, most: 2, othersMs: 30_000, latestMs: 100 };
  assertEquals([await pool.readSeveral(read, terms), caller.isOver], [["fast.local"], false]);
});

Deno.test("a node whose calls are used up is not among several that are read while two others are free", async () => {
  const slow = nodeOf("slow", 1);
  await slow.turn("call");
  let asked = 0;
  const read = async (node: ChainNode, signal: AbortSignal) => {
    asked += 1;
    return await turns(1)(node, signal);
  };
  const pool = poolOf(slow, nodeOf("fast", 0), nodeOf("fleet", 0));
  assertEquals(await pool.readSeveral(read, AT_ONCE), ["fast.local", "fleet.local"]);
  assertEquals(asked, 2);
  assertEquals(await poolOf(slow).readSeveral(read, AT_ONCE), ["slow.local"]);
  assertEquals(asked, 3);
});

Deno.test("one free node is not the only one that is asked while another only has to wait for its turn", async () => {
  const slow = nodeOf("slow", 1);
  await slow.turn("call");
  const pool = poolOf(slow, nodeOf("fast", 0));
  const answers = await pool.readSeveral(turns(1), { most: 3, othersMs: 30_000 });
  assertEquals(answers, ["fast.local", "slow.local"]);
  // what does not come in time is given up all the same
  assertEquals(await pool.readSeveral(turns(1), AT_ONCE), ["fast.local"]);
});
