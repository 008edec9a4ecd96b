import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { TronNode } from "../../chains/tron/node.ts";
import { NodePool } from "../../chains/tron/node_pool.ts";
import { readBlocks } from "../../chains/tron/read_blocks.ts";
import { needs } from "../support/permissions.ts";
import { block, contractCall, receipts } from "./support/block_fixture.ts";
import { type ScriptedNode, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true });
const CONTEXT = { tokens: new Map(), ignored: { zeroValue: 0, otherContract: 0 } };
const RANGE = "/walletsolidity/getblockbylimitnext";
const RECEIPTS = "/walletsolidity/gettransactioninfobyblocknum";

function blocksOf(node: ScriptedNode, to: number): AsyncGenerator<BlockAnswer> {
  const pool = new NodePool([new TronNode({ url: node.url, requestTimeoutMs: 10_000 })], 20_000);
  return readBlocks(pool, 1, to, "solid", CONTEXT);
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

/** How much is under way at once at most; each lasts long enough for others to come. */
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
    const deadline = performance.now() + 10_000;
    while (asked.length < 9 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assertEquals(inOrder(asked), [1, 11, 21, 31, 41, 51, 61, 71, 81]);
    for (let height = 2; height <= 200; height++) {
      assertEquals(heightOf((await blocks.next()).value), height);
    }
    await blocks.return(undefined);
    assertEquals(inOrder(asked), Array.from(asked, (_, i) => 1 + i * 10));
    assertLess(asked.length, 30);
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

Deno.test({
  name: "a range that cannot be read ends the blocks where it begins, whatever comes after it",
  ignore,
  fn: async () => {
    await using node = startScriptedNode({
      [RANGE]: (body) =>
        body["startNum"] === 31 ? new Response(null, { status: 500 }) : rangeOf(body),
      [RECEIPTS]: receiptsOf,
    });
    let height = 0;
    const error = await assertRejects(async () => {
      for await (const answer of blocksOf(node, 205)) assertEquals(heightOf(answer), ++height);
    }, ChainUnavailable);
    // what was read of a node before it failed counts, but it is asked no more
    assertEquals([height, error.category], [30, "server-error"]);
    const starts = node.requests.filter(({ path }) => path === RANGE)
      .map(({ body }): unknown => JSON.parse(body).startNum);
    assertEquals(new Set(starts).size, starts.length);
  },
});
