import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { addressToLogHex } from "../../chains/tron/address.ts";
import { TronNode } from "../../chains/tron/node.ts";
import { NotAsked, RateLimited } from "../../chains/tron/node_failures.ts";
import { NodePool } from "../../chains/tron/node_pool.ts";
import type { ParseContext } from "../../chains/tron/parse_block.ts";
import { readBlocks } from "../../chains/tron/read_blocks.ts";
import { CutRange, type ReadRange, readRangeHere } from "../../chains/tron/read_range.ts";
import { ReadingThread, readOnThreads } from "../../chains/tron/reading_thread.ts";
import { fromTokenUnits } from "../../ledger/money/amount.ts";
import { stoppedClock } from "../support/moved_clock.ts";
import { needs } from "../support/permissions.ts";
import { until } from "../support/until.ts";
import {
  approvalLog,
  block,
  contractCall,
  FAKE,
  nativeTransfer,
  OURS,
  type Pair,
  PAYER,
  receipts,
  STRANGER,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { never, type ScriptedNode, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true, read: true });
const ENTRY = new URL("../../app/commands/reader_worker.ts", import.meta.url);
const RANGE = "/walletsolidity/getblockbylimitnext";
const RECEIPTS = "/walletsolidity/gettransactioninfobyblocknum";
const BLOCKS = { from: 1, to: 4, finality: "solid" } as const;

/** Each kind of transaction that a block may hold. */
function pairsOf(height: number): readonly Pair[] {
  if (height % 3 === 0) return [];
  const at = { blockNumber: height };
  const native = nativeTransfer(2);
  return [
    contractCall(1, [
      approvalLog(USDT, PAYER, STRANGER, 1),
      transferLog(USDT, PAYER, OURS, 1_234_567),
      transferLog(USDT, PAYER, OURS, 2n ** 63n),
    ], { receipt: at }),
    { ...native, receipt: { ...native.receipt, ...at } },
    contractCall(3, [transferLog(FAKE, PAYER, OURS, 5), transferLog(USDT, PAYER, OURS, 0)], {
      receipt: at,
    }),
    contractCall(4, [], { receipt: at, result: "OUT_OF_ENERGY" }),
  ];
}

function startNode(): ScriptedNode {
  return startScriptedNode({
    [RANGE]: (body) => {
      const [from, to] = [Number(body["startNum"]), Number(body["endNum"])];
      return {
        block: Array.from({ length: to - from }, (_, i) => block(pairsOf(from + i), from + i)),
      };
    },
    [RECEIPTS]: (body) => receipts(pairsOf(Number(body["num"]))),
  });
}

function nodeOf(node: ScriptedNode): TronNode {
  return new TronNode({ url: node.url, requestTimeoutMs: 120_000, apiKey: "a-key" });
}

function newContext(): ParseContext {
  const unit = fromTokenUnits(1n, 6);
  return {
    tokens: new Map([[addressToLogHex(USDT), { currency: "USDT", unit }]]),
    ignored: { zeroValue: 0, otherContract: 0 },
  };
}

const UNENDING = new AbortController().signal;

/** What one way of reading told, counted and asked. */
async function tellBy(read: ReadRange, node: ScriptedNode) {
  const asked = nodeOf(node);
  const context = newContext();
  const before = node.requests.length;
  const told = await read(asked, BLOCKS, context, UNENDING).catch((error: unknown) => {
    assertInstanceOf(error, ChainUnavailable);
    const retryAfterMs = error instanceof RateLimited ? error.retryAfterMs : undefined;
    const answers = error instanceof CutRange ? error.answers : [];
    return { category: error.category, message: error.message, retryAfterMs, answers };
  });
  const requests = node.requests.slice(before).map(({ path, body, headers }) =>
    `${path} ${body} ${headers.get("tron-pro-api-key")}`
  );
  return {
    told,
    ignored: context.ignored,
    calls: asked.meter.today,
    requests: requests.toSorted(),
  };
}

Deno.test({
  name: "a thread tells, counts and asks what is told, counted and asked without it",
  ignore,
  fn: async () => {
    const thread = new ReadingThread({ entry: ENTRY });
    try {
      await using node = startNode();
      const whole = await tellBy(thread.readRange, node);
      assertEquals(whole, await tellBy(readRangeHere, node));
      assert(thread.runs);
      assertEquals(whole.calls, 4);
      assertEquals(whole.ignored, { zeroValue: 3, otherContract: 3 });
      assertEquals((whole.told as BlockAnswer[]).map(({ kind }) => kind), Array(4).fill("block"));

      const unusual: readonly [string, (body: Record<string, unknown>) => unknown][] = [
        [RECEIPTS, ({ num }) => num === 2 ? [] : receipts(pairsOf(Number(num)))],
        [
          RECEIPTS,
          () => new Response("slow down", { status: 429, headers: { "retry-after": "7" } }),
        ],
        [RECEIPTS, () => ({ Error: "lack of computing resources" })],
        // what was read before is told in both cases
        [
          RECEIPTS,
          ({ num }) =>
            num === 4 ? new Response("away", { status: 502 }) : receipts(pairsOf(Number(num))),
        ],
        [
          RECEIPTS,
          ({ num }) => num === 4 ? { Error: "suspended for 0 s" } : receipts(pairsOf(Number(num))),
        ],
        [RANGE, () => new Response("away", { status: 502 })],
        [RANGE, () => "no blocks"],
        [RANGE, () => ({})],
      ];
      for (const [path, script] of unusual) {
        const usual = node.scripts[path];
        node.scripts[path] = script;
        // a reading that fails does not wait for what else was asked: requests may come later
        const [there, here] = [
          await tellBy(thread.readRange, node),
          await tellBy(readRangeHere, node),
        ];
        assertEquals({ ...there, requests: [] }, { ...here, requests: [] });
        if (usual !== undefined) node.scripts[path] = usual;
      }
    } finally {
      thread.close();
    }
  },
});

Deno.test({
  name: "a thread asks in the turns of the service, which asks the same node itself",
  ignore,
  fn: async () => {
    const thread = new ReadingThread({ entry: ENTRY });
    try {
      await using node = startNode();
      const paced = new TronNode({ url: node.url, requestTimeoutMs: 120_000, callsPerSecond: 2 });
      // both turns of this second are taken here
      using clock = stoppedClock();
      await paced.turn(RECEIPTS);
      await paced.turn(RECEIPTS);
      const turn = paced.turn.bind(paced);
      const asked: string[] = [];
      paced.turn = (path, signal) => {
        asked.push(path);
        return turn(path, signal);
      };
      const range = thread.readRange(paced, { ...BLOCKS, to: 1 }, newContext(), UNENDING);
      const stop = new AbortController();
      const stopped = thread.readRange(paced, { ...BLOCKS, to: 1 }, newContext(), stop.signal);
      await until(() => asked.length === 2);
      stop.abort();
      await assertRejects(() => stopped, NotAsked);
      assertEquals(node.requests.length, 0);
      clock.goOn();
      assertEquals((await range).length, 1);
      assertEquals(paced.meter.today, node.requests.length);
    } finally {
      thread.close();
    }
  },
});

Deno.test({
  name: "long ways are read on threads, and short ones where they are asked for",
  ignore,
  fn: async () => {
    const threads = [
      new ReadingThread({ entry: ENTRY }),
      new ReadingThread({ entry: ENTRY }),
    ] as const;
    try {
      await using node = startNode();
      const pool = new NodePool([nodeOf(node)], 120_000);
      const read = async (to: number) => {
        const source = { pool, context: newContext(), readRange: readOnThreads(threads) };
        const told: BlockAnswer[] = [];
        const way = { from: 1, to, finality: "solid" } as const;
        for await (const answer of readBlocks(source, way)) told.push(answer);
        return told.map((answer) => answer.kind === "block" ? answer.block.height : answer.kind);
      };
      assertEquals(await read(99), Array.from({ length: 99 }, (_, i) => i + 1));
      assertEquals(threads.map(({ runs }) => runs), [false, false]);
      assertEquals(await read(105), Array.from({ length: 105 }, (_, i) => i + 1));
      assertEquals(threads.map(({ runs }) => runs), [true, true]);
    } finally {
      for (const thread of threads) thread.close();
    }
  },
});

Deno.test({
  name: "a range that nobody waits for any more is given up, and the thread reads on",
  ignore,
  fn: async () => {
    const thread = new ReadingThread({ entry: ENTRY });
    const end = new AbortController();
    try {
      await using node = startNode();
      const usual = node.scripts[RANGE];
      const asked = Promise.withResolvers<void>();
      node.scripts[RANGE] = () => {
        asked.resolve();
        return never(end.signal);
      };
      const stop = new AbortController();
      const reading = thread.readRange(nodeOf(node), BLOCKS, newContext(), stop.signal);
      await asked.promise;
      stop.abort();
      const error = await assertRejects(() => reading, ChainUnavailable, "gave up");
      assertEquals(error.category, "timeout");
      assertEquals(thread.load, 0);
      if (usual !== undefined) node.scripts[RANGE] = usual;
      const told = await thread.readRange(nodeOf(node), BLOCKS, newContext(), UNENDING);
      assertEquals(told.length, 4);
      end.abort();
    } finally {
      end.abort();
      thread.close();
    }
  },
});

/** A module whose worker the runtime refuses to make. */
const unstartable = new URL("./support/ending_reader.ts", import.meta.url);
unstartable.toString = () => {
  throw new TypeError("no such worker");
};

for (
  const [how, entry] of [
    ["ends", new URL("./support/ending_reader.ts", import.meta.url)],
    ["cannot be loaded", new URL("./support/missing_reader.ts", import.meta.url)],
    ["cannot be started", unstartable],
  ] as const
) {
  Deno.test({
    name: `what a thread that ${how} had is read without it, and the node is not blamed`,
    ignore,
    fn: async () => {
      const thread = new ReadingThread({ entry });
      try {
        await using node = startNode();
        const pool = new NodePool([nodeOf(node)], 120_000);
        for (let i = 0; i < 2; i++) {
          const told = await pool.read((node, bound) =>
            thread.readRange(node, BLOCKS, newContext(), bound)
          );
          assertEquals(told.map(({ kind }) => kind), Array(4).fill("block"));
          assert(!thread.runs, "it rests before it is started again");
        }
        assertEquals(pool.states.map(({ state, failure }) => [state, failure]), [["ready", null]]);
      } finally {
        thread.close();
      }
    },
  });
}

Deno.test({
  name: "a thread that hangs is given up and never started again",
  ignore,
  fn: async () => {
    const entry = new URL("./support/silent_reader.ts", import.meta.url);
    const thread = new ReadingThread({ entry, stuckMs: 10, restMs: 0 });
    try {
      await using node = startNode();
      const stop = new AbortController();
      const reading = thread.readRange(nodeOf(node), BLOCKS, newContext(), stop.signal);
      assert(thread.runs);
      stop.abort();
      const error = await assertRejects(() => reading, ChainUnavailable, "gave up");
      assertEquals(error.category, "timeout");
      assert(!thread.runs);
      const again = thread.readRange(nodeOf(node), BLOCKS, newContext(), UNENDING);
      assert(!thread.runs);
      assertEquals((await again).length, 4);
    } finally {
      thread.close();
    }
  },
});

Deno.test({
  name: "a thread without work is ended, and starts again with the next range",
  ignore,
  fn: async () => {
    const thread = new ReadingThread({ entry: ENTRY, idleMs: 0 });
    try {
      await using node = startNode();
      for (let i = 0; i < 2; i++) {
        const told = await thread.readRange(nodeOf(node), BLOCKS, newContext(), UNENDING);
        assertEquals(told.length, 4);
        await until(() => !thread.runs);
      }
    } finally {
      thread.close();
    }
  },
});

Deno.test({
  name: "a thread that is closed is never started again, and what it had is read without it",
  ignore,
  fn: async () => {
    const thread = new ReadingThread({ entry: ENTRY });
    await using node = startNode();
    const reading = thread.readRange(nodeOf(node), BLOCKS, newContext(), UNENDING);
    assert(thread.runs);
    thread.close();
    assertEquals((await reading).length, 4);
    assertEquals((await thread.readRange(nodeOf(node), BLOCKS, newContext(), UNENDING)).length, 4);
    assert(!thread.runs);
  },
});
