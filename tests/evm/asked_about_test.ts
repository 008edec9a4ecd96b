import { assertEquals, assertRejects } from "@std/assert";
import { askForRequest } from "../../chains/call_lane.ts";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  addressOf,
  composeBlock,
  hashOf,
  HOT,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

const BLOCKS = Array.from({ length: 41 }, (_, height) => {
  const root = height < 30 ? { type: 0, root: hashOf(`state ${height}`) } : {};
  return composeBlock(height, [{ ...root, logs: [transferLog(addressOf(1), addressOf(2), 7n)] }]);
});

/** A node of these blocks, of which those below 30 are from before Byzantium; some receipts are spoilt. */
function nodeOf(isSpoilt: boolean) {
  const receiptsOf = ({ receipts }: typeof BLOCKS[number]) =>
    isSpoilt ? receipts.map((one) => ({ ...one, logsBloom: "0x" })) : receipts;
  return startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) => {
      const isNumber = typeof name === "string" && name.startsWith("0x");
      return BLOCKS[isNumber ? Number(name) : 40]?.head ?? null;
    },
    eth_getBlockReceipts: ([hash]) => {
      const block = BLOCKS.find(({ head }) => head.hash === hash);
      return block === undefined ? null : receiptsOf(block);
    },
    eth_getTransactionReceipt: ([txid]) =>
      BLOCKS.flatMap(({ receipts }) => receipts).find((one) => one.transactionHash === txid) ??
        null,
  });
}

function chainOf(url: string) {
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

const txidAt = (height: number): string => BLOCKS[height]?.receipts[0]?.transactionHash;

test("transactions from before Byzantium are answered as untold, and rest no node", async () => {
  await using node = nodeOf(false);
  const chain = chainOf(node.url);
  for (const height of [1, 2, 3, 4]) {
    const found = await chain.transaction(txidAt(height), "solid");
    assertEquals(
      found.kind === "found" && [found.transaction.failure, found.transaction.transfers],
      ["UNTOLD_BEFORE_BYZANTIUM", []],
    );
  }
  assertEquals(chain.nodes.states[0]?.state, "ready");
});

test("questions of merchants that a node cannot answer rest it for none of the others", async () => {
  await using node = nodeOf(true);
  const chain = chainOf(node.url);
  const ask = (height: number) => chain.transaction(txidAt(height), "solid");
  for (const height of [31, 32, 33, 34, 35]) {
    await assertRejects(() => askForRequest(() => ask(height)));
    assertEquals(chain.nodes.states[0]?.state, "ready", `block ${height}`);
  }
  assertEquals((await chain.solid()).height, 40);
  // what the service reads for itself counts as before
  for (const height of [36, 37, 38]) await assertRejects(() => ask(height));
  assertEquals(chain.nodes.states[0]?.state, "cooling-down");
});
