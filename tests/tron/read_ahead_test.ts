import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";
import { LongBlocks } from "../../chains/tron/read/long_blocks.ts";
import { readBlocks, tronBlockAt } from "../../chains/tron/read/read_blocks.ts";
import { needs } from "../support/permissions.ts";
import { block, contractCall, receipts } from "./support/block_fixture.ts";
import { type Script, type ScriptedNode, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true });
const CONTEXT = { tokens: new Map() };
const BOUNDS = { totalTimeoutMs: 120_000, blockAt: tronBlockAt };
const RANGE = "/walletsolidity/getblockbylimitnext";
const RECEIPTS = "/walletsolidity/gettransactioninfobyblocknum";

function longOf({ nodes }: NodePool): LongBlocks {
  return new LongBlocks({ totalTimeoutMs: BOUNDS.totalTimeoutMs, nodes: nodes.length });
}

function poolOf(node: ScriptedNode): NodePool {
  return new NodePool([new ChainNode({ url: node.url, requestTimeoutMs: 60_000 })], BOUNDS);
}

function blocksOf(
  node: ScriptedNode,
  to: number,
  pool = poolOf(node),
): AsyncGenerator<BlockAnswer> {
  const source = { pool, context: CONTEXT, long: longOf(pool) };
  return readBlocks(source, { from: 1, to, finality: "solid" });
}

function heightOf(answer: BlockAnswer | undefined): number {
  return answer?.kind === "block" ? answer.block.height : NaN;
}

/** Blocks with a transaction each. */
function rangeOf(body: Record<string, unknown>): unknown {
  const [from, to] = [Number(body["startNum"]), Number(body["endNum"])];
  const call = [contractCall(1, [])];
  return { block: Array.from({ length: to - from }, (_, i) => block(call, from + i)) };
}

function receiptsOf(body: Record<string, unknown>): unknown {
  return receipts([contractCall(1, [], { receipt: { blockNumber: Number(body["num"]) } })]);
}

/** Requests may overtake each other on their way. */
function inOrder(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((a, b) => a - b);
}

/** Largest number of requests under way at once; each lasts long enough for others to come. */
class Crowd {
  largest = 0;
  #now = 0;

  async join<T>(answer: () => T): Promise<T> {
    this.#now++;
    this.largest = Math.max(this.largest, this.#now);
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.#now--;
    return answer();
  }
}

Deno.test({
  name: "while blocks are written, the next ones are read, and no more than are soon of use",
  ignore,
  fn: async () => {
    const asked: number[] = [];
    await using node = startScriptedNode({
      [RANGE]: (body) => {
        asked.push(Number(body["startNum"]));
        return rangeOf(body);
      },
      [RECEIPTS]: receiptsOf,
    });
    const blocks = blocksOf(node, 1_000);
    const first = await blocks.next();
    assertEquals(heightOf(first.value), 1);
    // the consumer takes no further block, as if it were writing
    const deadline = performance.now() + 60_000;
    while (asked.length < 6 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assertEquals(inOrder(asked), [1, 11, 21, 31, 41, 51]);
    for (let height = 2; height <= 200; height++) {
      assertEquals(heightOf((await blocks.next()).value), height);
    }
    await blocks.return(undefined);
    assertEquals(inOrder(asked), Array.from(asked, (_, i) => 1 + i * 10));
    assertLess(asked.length, 27);
  },
});

Deno.test({
  name: "a node is asked for three ranges and twelve receipts at once at most",
  ignore,
  fn: async () => {
    const [ranges, infos] = [new Crowd(), new Crowd()];
    await using node = startScriptedNode({
      [RANGE]: (body) => ranges.join(() => rangeOf(body)),
      [RECEIPTS]: (body) => infos.join(() => receiptsOf(body)),
    });
    let height = 0;
    for await (const answer of blocksOf(node, 205)) assertEquals(heightOf(answer), ++height);
    assertEquals(height, 205);
    assertLess(ranges.largest, 4);
    assertLess(infos.largest, 13);
  },
});

/** Waits until nothing more is asked of a node; bounded. */
async function untilQuiet(node: ScriptedNode): Promise<void> {
  let quiet = 0;
  let seen = -1;
  for (let i = 0; i < 1_000 && quiet < 20; i++) {
    quiet = node.requests.length === seen ? quiet + 1 : 0;
    seen = node.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertEquals(quiet, 20, "a node is asked without end");
}

/** Starts of the ranges that were asked of a node. */
function startsOf(node: ScriptedNode, since = 0): readonly number[] {
  return node.requests.slice(since).filter(({ path }) => path === RANGE)
    .map(({ body }) => Number(JSON.parse(body).startNum));
}

const refusal = () => new Response(null, { status: 429, headers: { "retry-after": "60" } });
const ends: Record<string, { readonly script: Script; readonly read: number }> = {
  "is refused": { script: refusal, read: 20 },
  "has a block that is not whole": {
    script: () => ({ block: [block([], 21), block([contractCall(1, [])], 22)] }),
    read: 21,
  },
};
for (const [what, { script, read }] of Object.entries(ends)) {
  Deno.test({
    name: `when a range ${what} no later one is asked for, also while blocks are written`,
    ignore,
    fn: async () => {
      let told = 0;
      await using node = startScriptedNode({
        [RANGE]: (body) => {
          if (body["startNum"] !== 21) return rangeOf(body);
          told = node.requests.length;
          return script(body);
        },
        [RECEIPTS]: (body) => body["num"] === 22 ? [] : receiptsOf(body),
      });
      const pool = poolOf(node);
      const blocks = blocksOf(node, 1_000, pool);
      let height = 0;
      const readOn = async () => {
        for (let next = await blocks.next(); next.value?.kind === "block";) {
          assertEquals(heightOf(next.value), ++height);
          // as if it were writing
          if (height === 1) await untilQuiet(node);
          next = await blocks.next();
        }
      };
      if (script !== refusal) await readOn();
      else {
        const error = await assertRejects(readOn, ChainUnavailable);
        assertEquals(error.category, "rate-limit");
        // what it had begun to answer before does not end its rest
        assertEquals(pool.states[0]?.state, "cooling-down");
      }
      assertEquals(height, read);
      // one may have been on its way
      assertLess(startsOf(node, told).length, 2);
      assertEquals(new Set(startsOf(node)).size, startsOf(node).length);
    },
  });
}

Deno.test({
  name: "blocks that were read whole are handed on, whatever fails after them in their range",
  ignore,
  fn: async () => {
    for (const height of [3, 7, 10]) {
      await using node = startScriptedNode({
        [RANGE]: rangeOf,
        [RECEIPTS]: (body) => body["num"] === height ? refusal() : receiptsOf(body),
      });
      const pool = poolOf(node);
      const read: number[] = [];
      const error = await assertRejects(async () => {
        for await (const answer of blocksOf(node, 20, pool)) read.push(heightOf(answer));
      }, ChainUnavailable);
      assertEquals(error.category, "rate-limit");
      assertEquals(read, Array.from({ length: height - 1 }, (_, i) => i + 1));
      assertEquals(pool.states[0]?.state, "cooling-down");
    }
  },
});

Deno.test({
  name: "what one node gave before it failed counts, unless the next one gives more",
  ignore,
  fn: async () => {
    await using first = startScriptedNode({
      [RANGE]: rangeOf,
      [RECEIPTS]: (body) => body["num"] === 6 ? refusal() : receiptsOf(body),
    });
    await using second = startScriptedNode({
      [RANGE]: rangeOf,
      [RECEIPTS]: (body) => body["num"] === 3 ? [] : receiptsOf(body),
    });
    const nodes = [first, second].map(({ url }) =>
      new ChainNode({ url, requestTimeoutMs: 60_000 })
    );
    const read: number[] = [];
    const pool = new NodePool(nodes, BOUNDS);
    const source = { pool, context: CONTEXT, long: longOf(pool) };
    await assertRejects(async () => {
      const range = { from: 1, to: 10, finality: "solid" } as const;
      for await (const answer of readBlocks(source, range)) read.push(heightOf(answer));
    }, ChainUnavailable);
    assertEquals(read, [1, 2, 3, 4, 5]);
    second.scripts[RECEIPTS] = receiptsOf;
    const all = readBlocks(source, { from: 1, to: 10, finality: "solid" });
    assertEquals((await Array.fromAsync(all)).length, 10);
  },
});
