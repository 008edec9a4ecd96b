import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { chainReasons } from "../../app/health/chains.ts";
import { type BlockRef, ChainUnavailable } from "../../chains/chain.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { WrongChainNode } from "../../chains/nodes/node_failures.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";

const MINUTE = 60_000;

/** Two nodes of one network, what they say of themselves, and a clock that a test moves. */
function network(requireIdentity?: (label: string) => Promise<void>) {
  const nodes = ["http://one.example", "http://two.example"].map((url) =>
    new ChainNode({ url, requestTimeoutMs: 1_000, suspensionIn: () => null })
  );
  const self = {
    clock: 1_000,
    /** The first block as each node has it, by its label; what is missing does not answer. */
    first: new Map(nodes.map(({ label }) => [label, "right"])),
    asked: [] as string[],
    labels: nodes.map(({ label }) => label),
  };
  const firstBlock = (hash: string): BlockRef => ({
    height: 0,
    parentHeight: -1,
    hash,
    parentHash: "",
    time: 0,
    tick: 0,
  });
  const pool = new NodePool(nodes, {
    totalTimeoutMs: 5_000,
    checksIdentity: true,
    monotonic: () => self.clock,
    blockAt: ({ label }) => {
      self.asked.push(label);
      const hash = self.first.get(label);
      if (hash !== undefined) return Promise.resolve(firstBlock(hash));
      return Promise.reject(new ChainUnavailable("timeout", `Cannot read in time: ${label}`));
    },
    ...(requireIdentity === undefined
      ? {}
      : { requireIdentity: ({ label }) => requireIdentity(label) }),
  });
  const read = () => pool.read(({ label }) => Promise.resolve(label));
  return Object.assign(self, { pool, read });
}

Deno.test("a node is asked which chain it is of at the start and again every few minutes, not with each read", async () => {
  const it = network();
  const [one] = it.labels;
  for (let reads = 0; reads < 10; reads++) assertEquals(await it.read(), one);
  assertEquals(it.asked, [one]);
  it.clock += 5 * MINUTE - 1;
  await it.read();
  assertEquals(it.asked.length, 1);
  it.clock += 1;
  await it.read();
  await it.read();
  assertEquals(it.asked.length, 2);
});

Deno.test("a node that has become one of another chain is set apart, told and asked again, and believed when it is back", async () => {
  const it = network();
  const [one = "", two] = it.labels;
  assertEquals(await it.read(), one);
  it.first.set(one, "another");
  it.clock += 5 * MINUTE;
  assertEquals(await it.read(), two, "the next one is read at once");
  assertEquals(it.pool.states.map(({ state }) => state), ["wrong-chain", "ready"]);
  const reasons = chainReasons({ nodes: () => it.pool.states, watched: new Map() }, "TRX", 0);
  assertStringIncludes(reasons.join(), "one.example is of another chain");
  it.clock += MINUTE;
  assertEquals(await it.read(), two, "after its rest it says the same");
  it.first.set(one, "right");
  it.clock += MINUTE;
  assertEquals(await it.read(), one);
  assertEquals(it.pool.states.map(({ state }) => state), ["ready", "ready"]);
});

Deno.test("a node that does not answer what chain it is of has not changed: what it is read for goes on, and it is asked again", async () => {
  const it = network();
  const [one = ""] = it.labels;
  await it.read();
  it.first.delete(one);
  it.clock += 5 * MINUTE;
  assertEquals(await it.read(), one);
  assertEquals(await it.read(), one);
  assertEquals(it.asked.length, 2);
  it.clock += MINUTE;
  it.first.set(one, "another");
  assertEquals(await it.read(), it.labels[1]);
});

Deno.test("what a dialect asks besides the first block counts as much as that block", async () => {
  let number = 1;
  const it = network((label) =>
    number === 1
      ? Promise.resolve()
      : Promise.reject(new WrongChainNode(`number ${number}: ${label}`))
  );
  await it.read();
  number = 5;
  it.clock += 5 * MINUTE;
  await assertRejects(it.read, ChainUnavailable, "number 5");
  assertEquals(it.pool.states.map(({ state }) => state), ["wrong-chain", "wrong-chain"]);
});
