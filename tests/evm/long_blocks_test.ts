import { assert, assertEquals } from "@std/assert";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { LowestFirst } from "../../chains/evm/read/lowest_first.ts";
import { headSchema } from "../../chains/evm/read/answers.ts";
import { LongReads } from "../../chains/evm/read/long_reads.ts";
import { makeSource } from "../../chains/evm/read/make_source.ts";
import { readTransaction } from "../../chains/evm/read/read_transaction.ts";
import { evmBlockAt, readBlock } from "../../chains/evm/read/read_blocks.ts";
import { FinalBlocks } from "../../chains/evm/read/source.ts";
import { NewestPlace } from "../../chains/nodes/believed_nodes.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";
import { parseLongBlock } from "../../chains/evm/read/parse_block.ts";
import type { OpenChain } from "../../chains/family.ts";
import { formatAmount, fromTokenUnits } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  addressOf,
  type BlockFixture,
  composeBlock,
  FAKE,
  HOT,
  type LogSpec,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { RpcFailure, type Script, startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

const EMPTY_LOG: LogSpec = { address: FAKE, topics: [], data: "0x" };
const PAID = transferLog(addressOf(1), addressOf(2), 7_000_000n);
const OF_OTHER = transferLog(addressOf(1), addressOf(2), 1n, FAKE);
const MEGABYTE = 1024 * 1024;

function logs(count: number): LogSpec[] {
  return Array.from({ length: count }, () => EMPTY_LOG);
}

/** A block that is longer than one text: 20,000 logs that anybody can write, and one transfer among them. */
const STUFFED = composeBlock(1, [
  { logs: logs(8_000) },
  { logs: [...logs(6_000), OF_OTHER, PAID, ...logs(6_000)] },
  {},
]);

function scripts({ head, receipts }: BlockFixture): Record<string, Script> {
  return {
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) => name === "0x0" ? composeBlock(0, []).head : head,
    eth_getBlockReceipts: () => receipts,
    eth_getTransactionReceipt: ([txid]) =>
      receipts.find(({ transactionHash }) => transactionHash === txid) ?? null,
  };
}

function chainOf(url: string, requestTimeoutMs = 60_000): OpenChain {
  return createEvmChain({
    network: "ETH",
    nodeUrls: [url],
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
    requestTimeoutMs,
    totalTimeoutMs: 3 * requestTimeoutMs,
  });
}

function said(answer: BlockAnswer): string {
  if (answer.kind === "incomplete") return answer.reason;
  if (answer.kind === "missing") return "missing";
  return answer.block.transfers.map(({ amount, logIndex }) =>
    `${formatAmount(amount)} #${logIndex}`
  )
    .join();
}

/** Reads the first block again and again, as a scan does; a call that failed is left alone for half a second. */
async function readWithin(chain: OpenChain, tries: number): Promise<string> {
  let answer = "";
  for (let i = 0; i < tries && answer !== "7 #6001"; i++) {
    try {
      answer = said(await chain.block(1, "head"));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return answer;
}

/** An answer's body, in pieces between which the node rests. */
function inPieces(body: string, pieces: number, restMs: number): Response {
  const bytes = new TextEncoder().encode(body);
  const size = Math.ceil(bytes.length / pieces);
  let at = 0;
  return new Response(
    new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, restMs));
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + size));
        at += size;
      },
    }),
    { headers: { "content-type": "application/json" } },
  );
}

test("a block that is stuffed with logs is read as any other, and its one transfer is found", async () => {
  assert(JSON.stringify(STUFFED.receipts).length > 4 * MEGABYTE);
  await using node = startScriptedRpc(scripts(STUFFED));
  const chain = chainOf(node.url);
  assertEquals(said(await chain.block(1, "head")), "7 #6001");
  assertEquals(node.asked.filter((one) => one === "eth_getBlockReceipts").length, 1);
});

test("of a stuffed block a log that is left out is found by its root, or by its number", async () => {
  for (const place of [0, 3_000, 7_999]) {
    const receipts = structuredClone(STUFFED.receipts);
    receipts[0].logs.splice(place, 1);
    await using node = startScriptedRpc(scripts({ head: STUFFED.head, receipts }));
    assertEquals(
      said(await chainOf(node.url).block(1, "head")),
      `log ${place === 7_999 ? 7_999 : place} is missing`,
    );
    for (const [i, log] of receipts.flatMap((one) => one.logs).entries()) {
      log.logIndex = `0x${i.toString(16)}`;
    }
    await using renumbered = startScriptedRpc(scripts({ head: STUFFED.head, receipts }));
    assert(
      said(await chainOf(renumbered.url).block(1, "head")).startsWith("its receipts have the root"),
    );
  }
});

/** Turns that others have of the thread while something is done. */
async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

test("others have the thread while a stuffed block is read, and while it is proven", async () => {
  const tokens = new Map([[USDT, { currency: "USDT" as const, unit: fromTokenUnits(1n, 6) }]]);
  const data = `0x${"5c".repeat(2_000)}`;
  const { head, receipts } = composeBlock(1, [
    { logs: [...logs(20_000), ...logs(3_000).map((log) => ({ ...log, data })), PAID] },
  ]);
  const bytes = new TextEncoder().encode(JSON.stringify(receipts));
  const reads = new LongReads({ tokens, totalTimeoutMs: 15_000, nodes: 1 });
  using read = reads.begin(1, head.hash);
  await read.begin(undefined);
  const reading = await turnsDuring(async () => {
    for (let at = 0; at < bytes.length; at += 65_536) {
      await read.take(bytes.subarray(at, at + 65_536));
    }
  });
  assert(reading >= 4, `${reading} turns`);
  const parsed = read.receipts.safeParse(JSON.parse(read.end()));
  const shaped = headSchema.parse(head);
  assert(parsed.success && parsed.data !== null);
  const { data: found } = parsed;
  let answer: BlockAnswer | null = null;
  const proving = await turnsDuring(async () => {
    answer = await parseLongBlock(shaped, found ?? [], { tokens, hotWallet: HOT });
  });
  assert(answer !== null && said(answer) === "7 #23000");
  assert(proving >= 2, `${proving} turns`);
});

test("others have the thread while many receipts are proven of which each alone is short", async () => {
  const data = `0x${"5c".repeat(240 * 1024)}`;
  const { head, receipts } = composeBlock(
    1,
    // several times the work of a slice, also on a fast machine
    Array.from({ length: 60 }, () => ({ logs: [{ ...EMPTY_LOG, data }] })),
  );
  const tokens = new Map();
  using read = new LongReads({ tokens, totalTimeoutMs: 15_000, nodes: 1 }).begin(1, head.hash);
  const parsed = read.receipts.safeParse(receipts);
  assert(parsed.success && parsed.data !== null);
  const { data: found } = parsed;
  const shaped = headSchema.parse(head);
  let answer: BlockAnswer | null = null;
  const proving = await turnsDuring(async () => {
    answer = await parseLongBlock(shaped, found, { tokens, hotWallet: HOT });
  });
  assert(answer !== null && said(answer) === "");
  assert(proving >= 1, `${proving} turns`);
});

test("no length of an answer stops the scan at its block", async () => {
  const receipts = composeBlock(1, [{ logs: logs(2_000) }]);
  const text = JSON.stringify(receipts.receipts);
  // blanks between members are of no meaning, and are bytes
  const body = `{"jsonrpc":"2.0","id":1,"result":${
    text.replaceAll("},{", `},${" ".repeat(40_000)}{`)
  }}`;
  assert(body.length > 65 * MEGABYTE);
  const all = scripts(receipts);
  await using node = startScriptedRpc(all);
  node.whole = (asked) => {
    const { id, method, params } = asked as { id: number; method: string; params: unknown[] };
    return method === "eth_getBlockReceipts"
      ? new Response(body)
      : Response.json({ jsonrpc: "2.0", id, result: all[method]?.(params) });
  };
  assertEquals((await chainOf(node.url).block(1, "head")).kind, "block");
});

test("a block that a node calls too large is read by its transactions, with the same proof", async () => {
  await using node = startScriptedRpc({
    ...scripts(STUFFED),
    eth_getBlockReceipts: () => new RpcFailure(-32_008, "response is too big"),
  });
  assertEquals(said(await chainOf(node.url).block(1, "head")), "7 #6001");
  const receipts = structuredClone(STUFFED.receipts);
  receipts[1].logs.pop();
  await using lying = startScriptedRpc({
    ...scripts({ head: STUFFED.head, receipts }),
    eth_getBlockReceipts: () => new RpcFailure(-32_008, "response is too big"),
  });
  assert(said(await chainOf(lying.url).block(1, "head")).startsWith("its receipts have the root"));
});

test("a long answer has its time as long as it keeps coming, and more with each failed try", async () => {
  const all = scripts(STUFFED);
  await using node = startScriptedRpc(all);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: STUFFED.receipts });
  let tries = 0;
  node.whole = (asked) => {
    const { id, method, params } = asked as { id: number; method: string; params: unknown[] };
    if (method !== "eth_getBlockReceipts") {
      return Response.json({ jsonrpc: "2.0", id, result: all[method]?.(params) });
    }
    tries += 1;
    // the whole of it takes longer than a request may, each piece does not; the first try stands still
    return tries === 1
      ? new Response(
        new ReadableStream({
          start: (controller) =>
            controller.enqueue(new TextEncoder().encode(body.slice(0, 2 * MEGABYTE))),
        }),
      )
      : inPieces(body, 12, 100);
  };
  const chain = chainOf(node.url, 500);
  const first = said(await chain.block(1, "head"));
  assert(first.includes("long answer took too much time"), first);
  assertEquals(chain.nodes.states[0]?.state, "ready", "its node is not to blame");
  assertEquals(await readWithin(chain, 50), "7 #6001");
});

test("a block that never comes whole is read receipt by receipt, and those that have come are kept", async () => {
  const all = scripts(STUFFED);
  await using node = startScriptedRpc(all);
  let receipts = 0;
  node.whole = (asked) => {
    const { id, method, params } = asked as { id: number; method: string; params: unknown[] };
    const answer = () => Response.json({ jsonrpc: "2.0", id, result: all[method]?.(params) });
    if (Array.isArray(asked)) return new Response(null, { status: 502 });
    if (method === "eth_getBlockReceipts") return new Response(null, { status: 502 });
    if (method !== "eth_getTransactionReceipt") return answer();
    receipts += 1;
    // every second one fails
    return receipts % 2 === 0 ? new Response(null, { status: 502 }) : answer();
  };
  const chain = chainOf(node.url);
  assertEquals(await readWithin(chain, 400), "7 #6001");
});

test("receipts of a block that is tried no more make room for those of a later one", () => {
  let now = 0;
  const reads = new LongReads({
    tokens: new Map(),
    totalTimeoutMs: 15_000,
    nodes: 1,
    monotonic: () => now,
  });
  const old = reads.keptOf(100, "0xold");
  now = 250_000;
  assert(reads.keptOf(100, "0xold") === old);
  now = 500_000;
  assert(reads.keptOf(1_000, "0xnew") !== reads.keptOf(1_000, "0xnew"), "the lower one is tried");
  now = 550_000;
  const kept = reads.keptOf(1_000, "0xnew");
  assert(reads.keptOf(1_000, "0xnew") === kept);
  assert(reads.keptOf(100, "0xold") !== old);
});

test("a look-up of a transaction waits for its turn behind every block of a scan", async () => {
  await using node = startScriptedRpc(scripts(STUFFED));
  const finals = new FinalBlocks();
  const pool = new NodePool([new ChainNode({ url: node.url, requestTimeoutMs: 60_000 })], {
    totalTimeoutMs: 60_000,
    blockAt: evmBlockAt(finals),
  });
  const source = makeSource({
    network: "ETH",
    pool,
    finals,
    contracts: [["USDT", USDT]],
    hotWallet: HOT,
    totalTimeoutMs: 60_000,
    place: new NewestPlace(12_000),
    blockMs: 12_000,
    receiptTypes: [],
  });
  const { turns } = source.long;
  const entered: number[] = [];
  const enter = turns.enter.bind(turns);
  turns.enter = (height, signal) => {
    entered.push(height);
    return enter(height, signal);
  };
  const txid = STUFFED.receipts[0].transactionHash;
  assertEquals((await readTransaction(source, txid, "head")).kind, "found");
  // its receipt, then its block
  assertEquals(entered, [Infinity, Infinity]);
  await readBlock(source, 1, "head");
  assertEquals(entered, [Infinity, Infinity, 1]);
});

test("of blocks that wait for their turn the lowest comes first, and one that is given up holds none", async () => {
  const turns = new LowestFirst();
  const order: number[] = [];
  await turns.enter(9, undefined);
  const last = turns.enter(Infinity, undefined).then(() => {
    order.push(Infinity);
    turns.leave();
  });
  const stop = new AbortController();
  const given = turns.enter(1, stop.signal).then(() => order.push(1), () => order.push(-1));
  const waiting = [7, 5, 6].map(async (height) => {
    await turns.enter(height, undefined);
    order.push(height);
    turns.leave();
  });
  stop.abort();
  await given;
  turns.leave();
  await Promise.all([...waiting, last]);
  await turns.enter(8, undefined);
  assertEquals(order, [-1, 5, 6, 7, Infinity]);
});
