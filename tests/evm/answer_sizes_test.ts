import { assertEquals, assertRejects } from "@std/assert";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { isCrowded } from "../../chains/nodes/crowded_text.ts";
import { OverlongAnswer } from "../../chains/nodes/node_failures.ts";
import type { OpenChain } from "../../chains/family.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import { composeBlock, HOT, USDT } from "./support/block_fixture.ts";
import { startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

function chainOf(url: string): OpenChain {
  return createEvmChain({
    network: "ETH",
    nodeUrls: [url],
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
    feeCap: amountOf("0.02"),
  });
}

const LONG = 100_000;

test("a node that answers a short question at length is left alone, and what it sent is not read", async () => {
  await using node = startScriptedRpc({ eth_chainId: () => "0x1".padEnd(LONG) });
  const chain = chainOf(node.url);
  await assertRejects(() => chain.head(), OverlongAnswer, "larger than");
  assertEquals(chain.nodes.states[0]?.state, "cooling-down");
});

test("a node that pads a block with what has no end is left alone", async () => {
  const { head } = composeBlock(7, []);
  await using node = startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) =>
      name === "latest" ? { ...head, padding: " ".repeat(2 * 1024 * 1024) } : null,
  });
  const chain = chainOf(node.url);
  await assertRejects(() => chain.head(), Error, "larger than");
  assertEquals(chain.nodes.states[0]?.state, "cooling-down");
});

test("a block's head of many transactions is read", async () => {
  const { head } = composeBlock(0, []);
  const transactions = Array.from({ length: 20_000 }, (_, i) => `0x${String(i).padStart(64, "0")}`);
  await using node = startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: () => ({ ...head, transactions }),
  });
  assertEquals((await chainOf(node.url).head()).height, 0);
});

Deno.test("a long text of next to nothing but brackets is told from one of hashes", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  assertEquals(isCrowded(bytes("[0],".repeat(400_000))), true);
  assertEquals(isCrowded(bytes("[0],".repeat(1_000))), false, "a short one costs nothing");
  assertEquals(isCrowded(bytes(`"0x${"ab".repeat(32)}",`.repeat(30_000))), false);
});
