import { assert, assertEquals, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { CallFailed } from "../../chains/nodes/node_failures.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";
import { addressToLogHex } from "../../chains/tron/address.ts";
import { longReceipts } from "../../chains/tron/read/long_answers.ts";
import { LongBlocks } from "../../chains/tron/read/long_blocks.ts";
import { LongRead } from "../../chains/tron/read/long_read.ts";
import {
  type BlockSource,
  readBlock,
  readBlocks,
  tronBlockAt,
} from "../../chains/tron/read/read_blocks.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  block,
  contractCall,
  type Json,
  OURS,
  type Pair,
  PAYER,
  receipts,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { type Script, type ScriptedNode, startScriptedNode } from "./support/scripted_node.ts";

const test = testNeeding({ net: true });
const SOLID = "/walletsolidity";
const TOKENS = new Map([
  [addressToLogHex(USDT), { currency: "USDT" as const, unit: amountOf("0.000001") }],
]);
/** Height of the first block, and of the one that is long. */
const FIRST = 100;
const LONG = 103;
const LAST = 109;
const encoder = new TextEncoder();

/** Transactions of a block: in the long one each returns as much as it likes, and the last one pays. */
function pairsOf(height: number): readonly Pair[] {
  const at = { blockNumber: height };
  const one = contractCall(1, [], { receipt: at });
  if (height !== LONG) return [one];
  const returns = { ...at, contractResult: ["00".repeat(64 * 1024)] };
  const calls = Array.from({ length: 12 }, (_, i) => contractCall(i + 1, [], { receipt: returns }));
  return [...calls, contractCall(99, [transferLog(USDT, PAYER, OURS, 5)], { receipt: at })];
}

function heightIn(body: Json): number {
  return Number(body["num"]);
}

/** A node that has all blocks. */
function scripts(): Record<string, Script> {
  const all = new Map(
    pairsOf(LONG).map((pair) => [String(pair.transaction["txID"]), pair.receipt]),
  );
  return {
    [`${SOLID}/getblockbylimitnext`]: ({ startNum, endNum }) => ({
      block: Array.from({ length: Number(endNum) - Number(startNum) }, (_, i) => {
        const height = Number(startNum) + i;
        return block(pairsOf(height), height);
      }),
    }),
    [`${SOLID}/getblockbynum`]: (body) => block(pairsOf(heightIn(body)), heightIn(body)),
    [`${SOLID}/gettransactioninfobyblocknum`]: (body) => receipts(pairsOf(heightIn(body))),
    [`${SOLID}/gettransactioninfobyid`]: (body) => all.get(String(body["value"])) ?? {},
  };
}

/** Bytes from which on an answer has proved long. */
const PROVES_LONG = 600_000;

/** An answer whose beginning comes at once, and the rest of it in pieces between which the node rests. */
function slowly(json: unknown, begun: number, pieces: number, restMs: number): Response {
  const bytes = encoder.encode(JSON.stringify(json));
  const size = Math.ceil((bytes.length - begun) / pieces);
  let at = 0;
  return new Response(
    new ReadableStream({
      async pull(controller) {
        const to = at === 0 ? Math.max(begun, 1) : at + size;
        if (at > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, to));
        at = to;
      },
    }),
    { headers: { "content-type": "application/json" } },
  );
}

function sourceOf(
  nodes: readonly ScriptedNode[],
  options: { readonly requestTimeoutMs: number; readonly mostBytes?: number },
): BlockSource {
  const { requestTimeoutMs, ...rest } = options;
  const totalTimeoutMs = 3 * requestTimeoutMs;
  const pool = new NodePool(nodes.map(({ url }) => new ChainNode({ url, requestTimeoutMs })), {
    totalTimeoutMs,
    blockAt: tronBlockAt,
  });
  const long = new LongBlocks({ totalTimeoutMs, nodes: nodes.length, ...rest });
  return { pool, context: { tokens: TOKENS }, long };
}

/** Reads on from a block, as far as one look of a scan comes. */
async function look(source: BlockSource, from: number): Promise<readonly BlockAnswer[]> {
  const answers: BlockAnswer[] = [];
  try {
    for await (const one of readBlocks(source, { from, to: LAST, finality: "solid" })) {
      if (one.kind !== "block") break;
      answers.push(one);
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
  }
  return answers;
}

/** Looks again and again, as a scan does, until all blocks are read; a call that failed is left alone for half a second. */
async function scan(source: BlockSource, looks: number): Promise<readonly string[]> {
  const read: BlockAnswer[] = [];
  for (let i = 0; i < looks && read.length <= LAST - FIRST; i++) {
    read.push(...await look(source, FIRST + read.length));
    // a machine that is busy may be late with a short answer, which is another matter
    const failures = source.pool.states.flatMap(({ failure }) => failure ?? []);
    assertEquals(failures.filter((failure) => failure.includes("long answer")), []);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return read.map((one) =>
    one.kind === "block" ? `${one.block.height} ${one.block.transfers.length}` : one.kind
  );
}

const ALL = Array.from({ length: LAST - FIRST + 1 }, (_, i) => {
  const height = FIRST + i;
  return `${height} ${height === LONG ? 1 : 0}`;
});

test("receipts that are longer together than any one answer may be are read one by one, and no node rests", async () => {
  await using one = startScriptedNode(scripts());
  await using two = startScriptedNode(scripts());
  const source = sourceOf([one, two], { requestTimeoutMs: 60_000, mostBytes: 1024 * 1024 });
  assert(JSON.stringify(receipts(pairsOf(LONG))).length > 1.5 * 1024 * 1024);
  assertEquals((await look(source, FIRST)).length, ALL.length);
  assertEquals(source.pool.states.map(({ failure }) => failure), [null, null]);
  const asked = one.requests.filter(({ path }) => path.endsWith("infobyid"));
  assertEquals(asked.length, pairsOf(LONG).length);
  assertEquals(two.requests.length, 0);
});

test("a block whose receipts come too slowly at every node is read in the end, and no node rests", async () => {
  const nodes = () => {
    const all = scripts();
    const short = all[`${SOLID}/gettransactioninfobyid`] as Script;
    const whole = all[`${SOLID}/gettransactioninfobyblocknum`] as Script;
    return startScriptedNode({
      ...all,
      // with eight times as much time they would be too slow still
      [`${SOLID}/gettransactioninfobyblocknum`]: (body) =>
        heightIn(body) === LONG ? slowly(whole(body), PROVES_LONG, 600, 100) : whole(body),
      // and so would be all of them one by one, in one look
      [`${SOLID}/gettransactioninfobyid`]: (body) => slowly(short(body), 1, 1, 150),
    });
  };
  await using one = nodes();
  await using two = nodes();
  assertEquals(await scan(sourceOf([one, two], { requestTimeoutMs: 700 }), 15), ALL);
});

test("blocks that come too slowly together are read one by one, and no node rests", async () => {
  const nodes = () => {
    const all = scripts();
    const range = all[`${SOLID}/getblockbylimitnext`] as Script;
    const filler = { odd: "0".repeat(1024 * 1024) };
    return startScriptedNode({
      ...all,
      [`${SOLID}/getblockbylimitnext`]: (body) =>
        slowly({ ...filler, ...range(body) as Json }, PROVES_LONG, 600, 100),
    });
  };
  await using one = nodes();
  await using two = nodes();
  assertEquals(await scan(sourceOf([one, two], { requestTimeoutMs: 1_000 }), 15), ALL);
});

test("a node that never ends an answer leaves time for another one", async () => {
  const whole = scripts()[`${SOLID}/gettransactioninfobyblocknum`] as Script;
  await using endless = startScriptedNode({
    ...scripts(),
    [`${SOLID}/gettransactioninfobyblocknum`]: (body) =>
      slowly(whole(body), PROVES_LONG, 100_000, 100),
  });
  await using honest = startScriptedNode(scripts());
  const source = sourceOf([endless, honest], { requestTimeoutMs: 1_500 });
  const read = await readBlock(source, LONG, "solid");
  assertEquals(read.kind, "block");
  assert(!source.long.hasFailed(LONG), "what was read has failed no longer");
});

test("nothing is read beside a block that has failed", async () => {
  const ranges: number[] = [];
  const failed = Promise.withResolvers<void>();
  const all = scripts();
  const range = all[`${SOLID}/getblockbylimitnext`] as Script;
  await using node = startScriptedNode({
    ...all,
    [`${SOLID}/getblockbylimitnext`]: (body) => {
      ranges.push(Number(body["startNum"]));
      return range(body);
    },
    [`${SOLID}/getblockbynum`]: async (body) => {
      await failed.promise;
      return await all[`${SOLID}/getblockbynum`]?.(body);
    },
  });
  const source = sourceOf([node], { requestTimeoutMs: 60_000 });
  const timeout = new ChainUnavailable("timeout", "too slow");
  const { nodes: [asked] } = source.pool;
  assert(asked !== undefined);
  source.long.failed(FIRST, asked, timeout, new AbortController().signal);
  const wanted = { from: FIRST, to: FIRST + 49, finality: "solid" } as const;
  const read = readBlocks(source, wanted)[Symbol.asyncIterator]();
  const first = read.next();
  while (node.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const beside = [...ranges];
  failed.resolve();
  assertEquals((await first).value?.kind, "block");
  let count = 1;
  while ((await read.next()).value?.kind === "block") count += 1;
  assertEquals([count, beside, ranges], [50, [], [110, 120, 130, 140]]);
});

test("receipts that two nodes have given are never mixed, and those of what is not whole are forgotten", () => {
  const long = new LongBlocks({ totalTimeoutMs: 15_000, nodes: 2 });
  const [one, two] = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map((url) =>
    new ChainNode({ url, requestTimeoutMs: 1_000 })
  );
  assert(one !== undefined && two !== undefined);
  const kept = long.keptOf(1, "a", one);
  const others = long.keptOf(1, "a", two);
  assert(kept !== others && long.keptOf(1, "a", one) === kept);
  assert(long.keptOf(1, "b", one) !== kept);
  long.wasNotWhole(1, "a", one);
  assert(long.keptOf(1, "a", one) !== kept && long.keptOf(1, "a", two) === others);
  long.succeeded(1);
  assert(long.keptOf(1, "a", two) !== others);
});

test("a block that is full of transfers has more room in the next try", async () => {
  const calls = Array.from(
    { length: 50 },
    (_, i) => contractCall(i, Array(20).fill(transferLog(USDT, PAYER, OURS, 5))),
  );
  const bytes = encoder.encode(JSON.stringify(receipts(calls)));
  const read = async (mostKeptBytes: number) => {
    const terms = { timeFactor: 1, wholeMs: 1_000, mostKeptBytes };
    const long = new LongRead(longReceipts(TOKENS), bytes.length, terms);
    await long.begin();
    await long.take(bytes);
    return long.shape.safeParse(JSON.parse(long.end())).success;
  };
  await assertRejects(() => read(100_000), ChainUnavailable, "of use");
  assert(await read(1_000_000));
  const long = new LongBlocks({ totalTimeoutMs: 15_000, nodes: 1 });
  const node = new ChainNode({ url: "http://127.0.0.1:1", requestTimeoutMs: 1_000 });
  const before = long.termsOf(7);
  const failure = new CallFailed("timeout", "it has more of use", "call", false);
  assert(long.failed(7, node, failure, new AbortController().signal));
  const after = long.termsOf(7);
  assert(after.mostKeptBytes > before.mostKeptBytes && after.timeFactor > before.timeFactor);
});

test("a block that fails at a second node as well is to blame, and no node", () => {
  const long = new LongBlocks({ totalTimeoutMs: 15_000, nodes: 2 });
  const [one, two] = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map((url) =>
    new ChainNode({ url, requestTimeoutMs: 1_000 })
  );
  assert(one !== undefined && two !== undefined);
  const { signal } = new AbortController();
  const silent = () => new ChainUnavailable("timeout", "5000 ms passed");
  assert(!long.failed(1, one, silent(), signal), "it alone may be slow");
  assert(!long.failed(1, one, silent(), signal));
  assert(long.failed(1, two, silent(), signal));
  assert(long.failed(1, one, silent(), signal));
  assert(!long.failed(2, one, silent(), signal), "another block says nothing of this one");
  assert(!long.failed(1, one, new ChainUnavailable("malformed", "odd"), signal));
  assert(!long.failed(1, one, new ChainUnavailable("rate-limit", "later"), signal));
  long.succeeded(1);
  assert(!long.failed(1, one, silent(), signal), "it was read since");
});
