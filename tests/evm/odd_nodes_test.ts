import { assert, assertEquals, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import type { OpenChain } from "../../chains/family.ts";
import { amountOf, formatAmount } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  addressOf,
  type BlockFixture,
  composeBlock,
  HOT,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { chainOn } from "./support/scripted_chain.ts";
import { RpcFailure, type Script, startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

/** Blocks 0 to 40, each with a transfer of its height; final up to 30. */
const BLOCKS: readonly BlockFixture[] = Array.from(
  { length: 41 },
  (_, height) =>
    composeBlock(
      height,
      height % 5 === 0 ? [] : [
        { logs: [transferLog(addressOf(1), addressOf(2), BigInt(height) * 1_000_000n)] },
        {},
      ],
    ),
);
const NEWEST = 40;
const FINAL = 30;

function blockOf(name: unknown): BlockFixture | undefined {
  if (name === "latest") return BLOCKS[NEWEST];
  if (name === "finalized") return BLOCKS[FINAL];
  return BLOCKS[Number(name)];
}

/** Answers of a node of this chain. */
function honest(): Record<string, Script> {
  return {
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) => blockOf(name)?.head ?? null,
    eth_getBlockReceipts: ([hash]) =>
      BLOCKS.find(({ head }) => head.hash === hash)?.receipts ?? null,
    eth_getTransactionReceipt: ([txid]) =>
      BLOCKS.flatMap(({ receipts }) => receipts).find((one) => one.transactionHash === txid) ??
        null,
    eth_getTransactionByHash: () => null,
  };
}

async function read(
  chain: OpenChain,
  from: number,
  to: number,
  finality: "head" | "solid" = "solid",
) {
  const answers: BlockAnswer[] = await Array.fromAsync(chain.blocks(from, to, finality));
  return {
    heights: answers.map((answer) => answer.kind === "block" ? answer.block.height : answer.kind),
    sums: answers.flatMap((answer) =>
      answer.kind === "block"
        ? answer.block.transfers.map(({ amount }) => formatAmount(amount))
        : []
    ),
  };
}

test("a range is read with heads together and receipts by their hash, none of empty blocks", async () => {
  await using node = startScriptedRpc(honest());
  const { heights, sums } = await read(chainOn(node), 1, 10);
  assertEquals(heights, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assertEquals(sums, ["1", "2", "3", "4", "6", "7", "8", "9"]);
  assertEquals(node.asked.filter((one) => one === "eth_getBlockReceipts").length, 8);
  assertEquals(node.asked.filter((one) => one === "10 x eth_getBlockByNumber").length, 1);
});

test("what is final is asked once, and blocks above it are not there", async () => {
  await using node = startScriptedRpc(honest());
  const chain = chainOn(node);
  assertEquals((await chain.solid()).height, FINAL);
  const { heights } = await read(chain, 28, 35);
  assertEquals(heights, [28, 29, 30, "missing"]);
  assertEquals((await read(chain, 28, 35, "head")).heights.length, 8);
});

test("a node that gives no receipts of a block gives each one, and no block is lost by it", async () => {
  const scripts = honest();
  delete scripts["eth_getBlockReceipts"];
  await using node = startScriptedRpc(scripts);
  const { sums } = await read(chainOn(node), 1, 4);
  assertEquals(sums, ["1", "2", "3", "4"]);
  assert(node.asked.includes("2 x eth_getTransactionReceipt"));
  assertEquals(node.asked.filter((one) => one === "eth_getBlockReceipts").length <= 4, true);
});

test("a node that answers no batches is asked one by one", async () => {
  await using node = startScriptedRpc(honest());
  node.whole = null;
  const scripts = node.scripts;
  await using single = startScriptedRpc(scripts);
  single.whole = (body) =>
    Array.isArray(body)
      ? Response.json({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "no batches" } })
      : Response.json({
        jsonrpc: "2.0",
        id: 1,
        result: scripts[(body as { method: string }).method]?.(
          (body as { params: unknown[] }).params,
        ) ?? null,
      });
  const { sums } = await read(chainOn(single), 1, 4);
  assertEquals(sums, ["1", "2", "3", "4"]);
});

const UNFINISHED: Readonly<Record<string, Script>> = {
  "does not know its receipts yet": () => null,
  "gives an empty list": () => [],
  "gives those of another block": () => BLOCKS[8]?.receipts,
  "leaves the last one out": () => BLOCKS[7]?.receipts.slice(0, -1),
  "leaves a log out": () =>
    BLOCKS[7]?.receipts.map((one, i) => i === 0 ? { ...one, logs: [] } : one),
  "gives one that is no receipt": () => [{}, {}],
};

for (const [name, receipts] of Object.entries(UNFINISHED)) {
  test(`a block of which a node ${name} waits, and another node's is taken`, async () => {
    const bad: Script = ([hash]) =>
      hash === BLOCKS[7]?.head.hash ? receipts([hash]) : honest()["eth_getBlockReceipts"]?.([hash]);
    await using broken = startScriptedRpc({ ...honest(), eth_getBlockReceipts: bad });
    const alone = chainOn(broken);
    const { heights, sums } = await read(alone, 6, 9);
    assertEquals([heights, sums], [[6, "incomplete"], ["6"]]);
    await using whole = startScriptedRpc(honest());
    assertEquals((await read(chainOn(broken, whole), 6, 9)).sums, ["6", "7", "8", "9"]);
  });
}

const UNSAID: Readonly<Record<string, Script>> = {
  "has no final block": () => null,
  "does not know the word": () => new RpcFailure(-32602, "invalid argument 0: hex string"),
  "lost it at its start": () => new RpcFailure(-39001, "finalized block not found"),
};

for (const [name, said] of Object.entries(UNSAID)) {
  test(`a node that ${name} is not believed, and no number of blocks stands in for it`, async () => {
    const scripts = honest();
    const heads = scripts["eth_getBlockByNumber"];
    await using node = startScriptedRpc({
      ...scripts,
      eth_getBlockByNumber: (params) => params[0] === "finalized" ? said(params) : heads?.(params),
    });
    const chain = chainOn(node);
    const failure = await assertRejects(() => chain.solid(), ChainUnavailable);
    assertEquals(failure.category, "malformed");
    assert(failure.message.includes("does not say it"), failure.message);
    assertEquals((await chain.head()).height, NEWEST);
    await assertRejects(() => read(chain, 1, 3), ChainUnavailable);
  });
}

test("a node with another final block than it named is not believed for it", async () => {
  const scripts = honest();
  const heads = scripts["eth_getBlockByNumber"];
  const other = composeBlock(FINAL, [{}], { hash: `0x${"ee".repeat(32)}` });
  await using node = startScriptedRpc({
    ...scripts,
    eth_getBlockByNumber: (params) => Number(params[0]) === FINAL ? other.head : heads?.(params),
    eth_getBlockReceipts: () => other.receipts,
  });
  const chain = chainOn(node);
  const answer = await chain.block(FINAL, "solid");
  assertEquals(answer.kind, "incomplete");
});

test("a node that answers another height than it was asked for is not believed", async () => {
  const scripts = honest();
  await using node = startScriptedRpc({
    ...scripts,
    eth_getBlockByNumber: ([name]) => name === "0x0" ? BLOCKS[0]?.head : BLOCKS[FINAL]?.head,
  });
  const failure = await assertRejects(() => chainOn(node).block(3, "head"), ChainUnavailable);
  assertEquals(failure.category, "malformed");
});

test("an answer of another call is none", async () => {
  await using node = startScriptedRpc(honest());
  node.whole = () => Response.json({ jsonrpc: "2.0", id: 77, result: "0x1" });
  const failure = await assertRejects(() => chainOn(node).head(), ChainUnavailable);
  assertEquals(failure.category, "malformed");
});

const REFUSALS: readonly (readonly [string, () => Response, ChainUnavailable["category"]])[] = [
  ["HTTP 429", () => new Response("", { status: 429 }), "rate-limit"],
  ["HTTP 403", () => new Response("", { status: 403 }), "rate-limit"],
  ["HTTP 503", () => new Response("", { status: 503 }), "rate-limit"],
  ["HTTP 502", () => new Response("", { status: 502 }), "server-error"],
  ["a page of a proxy", () => new Response("<html>"), "malformed"],
  ["code -32005", () => failed(-32005, "limit exceeded"), "rate-limit"],
  ["code -32016", () => failed(-32016, "over rate limit"), "rate-limit"],
  ["code -32029", () => failed(-32029, "Too Many Requests"), "rate-limit"],
  ["a text of capacity", () => failed(-32000, "your app has exceeded its capacity"), "rate-limit"],
  ["a text with HTTP 400", () => failed(-32000, "rate limit", 400), "rate-limit"],
  ["an error of its own", () => failed(-32603, "Internal error"), "server-error"],
  ["a lost state", () => failed(-32000, "missing trie node abc"), "server-error"],
];

function failed(code: number, message: string, status = 200): Response {
  return Response.json({ jsonrpc: "2.0", id: 1, error: { code, message } }, { status });
}

for (const [name, refusal, category] of REFUSALS) {
  test(`a node's refusal is sorted: ${name}`, async () => {
    await using node = startScriptedRpc(honest());
    node.whole = refusal;
    const failure = await assertRejects(() => chainOn(node).head(), ChainUnavailable);
    assertEquals(failure.category, category);
  });
}

const FORGOTTEN = [
  [-32000, "missing trie node abc"],
  [-32602, "BlockOutOfRangeError: block height is 40 but requested was 12"],
  [-32603, "State at block #12 is pruned"],
  [-32000, "seek with txNum=12 but data before txNum=30 is not available"],
  [-32000, "words that no node has had before"],
] as const;

for (const [code, words] of FORGOTTEN) {
  test(`a node that has forgotten the state of an older block shows its newest final one: ${words}`, async () => {
    await using node = startScriptedRpc({
      ...honest(),
      eth_getBalance: ([, state]) => {
        const { blockHash } = state as { blockHash: string };
        return blockHash === BLOCKS[FINAL]?.head.hash
          ? "0xde0b6b3a7640000"
          : new RpcFailure(code, words);
      },
    });
    const chain = chainOn(node);
    const checkpoint = { height: 12, hash: BLOCKS[12]?.head.hash ?? "" };
    assertEquals(await chain.balanceOf(HOT, "native", undefined, checkpoint), amountOf("1"));
    assertEquals(chain.nodes.states.map(({ state }) => state), ["ready"]);
  });
}

test("a transaction is taken from its whole block, never from its receipt alone", async () => {
  const scripts = honest();
  await using node = startScriptedRpc({
    ...scripts,
    // a receipt with more money than the block proves
    eth_getTransactionReceipt: ([txid]) => {
      const receipt = structuredClone(
        BLOCKS.flatMap(({ receipts }) => receipts).find((one) => one.transactionHash === txid),
      );
      receipt.logs = [transferLog(addressOf(1), addressOf(2), 10n ** 12n)];
      return receipt;
    },
  });
  const txid = BLOCKS[7]?.receipts[0].transactionHash;
  const found = await chainOn(node).transaction(txid, "solid");
  assert(found.kind === "found");
  assertEquals(found.transaction.transfers.map(({ amount }) => formatAmount(amount)), ["7"]);
  const newer = BLOCKS[NEWEST - 1]?.receipts[0].transactionHash;
  assertEquals((await chainOn(node).transaction(newer, "solid")).kind, "missing");
  assertEquals((await chainOn(node).transaction("nonsense", "solid")).kind, "missing");
});

test("a key of the provider goes along as a header, and calls are counted one by one", async () => {
  await using node = startScriptedRpc(honest());
  const chain = createEvmChain({
    network: "ETH",
    nodeUrls: [node.url],
    apiKey: "secret",
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
  });
  await read(chain, 1, 10);
  assertEquals(node.headers[0]?.get("authorization"), "Bearer secret");
  const calls = node.asked.reduce((sum, one) => sum + (Number.parseInt(one) || 1), 0);
  assertEquals(chain.nodes.states[0]?.callsToday, calls);
});
