import { assert, assertEquals } from "@std/assert";
import { receiptsShape } from "../../chains/evm/read/answers.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { testNeeding } from "../support/permissions.ts";
import { block, OURS, PAYER, USDT } from "./support/block_fixture.ts";
import { startScriptedNode } from "./support/scripted_node.ts";

const test = testNeeding({ net: true });

test("a node whose lists have wrong members throughout keeps the others from nothing", async () => {
  const wrong = { ...block([], 1), transactions: Array(120_000).fill({}) };
  await using liar = startScriptedNode({
    "/walletsolidity/getblockbylimitnext": () => ({ block: [wrong] }),
    "/walletsolidity/getblockbynum": () => wrong,
  });
  await using right = startScriptedNode({
    "/walletsolidity/getblockbylimitnext": () => ({ block: [block([], 1), block([], 2)] }),
  });
  const chain = createTronChain({
    network: "TRX",
    nodeUrls: [liar.url, right.url],
    contracts: { USDT },
    deposits: { address: () => OURS },
    hotWallet: PAYER,
  });
  const found = await Array.fromAsync(chain.blocks(1, 2, "solid"));
  assertEquals(found.map(({ kind }) => kind), ["block", "block"]);
});

Deno.test("an answer is wrong by the first of its wrong members alone", () => {
  const parsed = receiptsShape.safeParse(Array(3).fill({ logs: Array(400_000).fill(0) }));
  assert(!parsed.success);
  assertEquals(parsed.error.issues.map(({ path }) => path[0]), [0]);
});
