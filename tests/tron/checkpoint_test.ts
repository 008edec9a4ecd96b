import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HDKey } from "@scure/bip32";
import { ChainUnavailable, NotOurChain } from "../../chains/chain.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import { needs } from "../support/permissions.ts";
import {
  block,
  blockId,
  contractCall,
  HEIGHT,
  OURS,
  PAYER,
  transferLog,
  txid,
  USDT,
} from "./support/block_fixture.ts";
import { type Script, type ScriptedNode, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true });
const BRANCH = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/195'/0'/0");
const CHECKPOINT = { height: HEIGHT, hash: blockId(HEIGHT) };
const payment = contractCall(1, [transferLog(USDT, PAYER, OURS, 1)]);

const SCRIPTS: Record<string, Script> = {
  "/walletsolidity/getblockbynum": () => block([payment]),
  "/wallet/gettransactionbyid": () => ({}),
  "/walletsolidity/gettransactionbyid": () => payment.transaction,
  "/walletsolidity/gettransactioninfobyid": () => payment.receipt,
};

function chainOver(...nodes: readonly ScriptedNode[]) {
  return createTronChain({
    network: "TRX",
    nodeUrls: nodes.map(({ url }) => url),
    contracts: { USDT },
    deposits: publicAddresses("TRX", { depositXpub: BRANCH.publicExtendedKey }),
    hotWallet: PAYER,
    requestTimeoutMs: 60_000,
  });
}

Deno.test({
  name: "the checkpoint is asked of the very node that answers, among its solid blocks",
  ignore,
  fn: async () => {
    await using behind = startScriptedNode({
      ...SCRIPTS,
      "/walletsolidity/getblockbynum": () => ({}),
    });
    await using good = startScriptedNode(SCRIPTS);
    const chain = chainOver(behind, good);
    assertEquals((await chain.transaction(txid(1), "head", undefined, CHECKPOINT)).kind, "missing");
    assertEquals((await chain.transaction(txid(1), "solid", undefined, CHECKPOINT)).kind, "found");
    const paths = (node: ScriptedNode) => node.requests.map(({ path }) => path);
    assertEquals(new Set(paths(behind)), new Set(["/walletsolidity/getblockbynum"]));
    assertEquals(paths(good).slice(-3), [
      "/walletsolidity/getblockbynum",
      "/walletsolidity/gettransactionbyid",
      "/walletsolidity/gettransactioninfobyid",
    ]);
    await assertRejects(
      () => chainOver(behind).transaction(txid(1), "solid", undefined, CHECKPOINT),
      NotOurChain,
      `none that answers has solid block ${HEIGHT}`,
    );
  },
});

Deno.test({
  name: "an answer about another height than the checkpoint's proves nothing, for or against",
  ignore,
  fn: async () => {
    await using node = startScriptedNode(SCRIPTS);
    const chain = chainOver(node);
    const mark = { height: HEIGHT - 1, hash: blockId(HEIGHT) };
    const error = await assertRejects(
      () => chain.transaction(txid(1), "solid", undefined, mark),
      ChainUnavailable,
      `answered block ${HEIGHT} for block ${HEIGHT - 1}`,
    );
    assertEquals(error instanceof NotOurChain, false);
    assertEquals(chain.nodes.states.map(({ state }) => state), ["ready"]);
  },
});

Deno.test({
  name: "a node that was found to be of another chain is not cleared by what was under way",
  ignore,
  fn: async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await using node = startScriptedNode({
      ...SCRIPTS,
      "/walletsolidity/gettransactionbyid": async () => {
        asked.resolve();
        await answered.promise;
        return payment.transaction;
      },
    });
    const chain = chainOver(node);
    const underWay = chain.transaction(txid(1), "solid");
    await asked.promise;
    const error = await assertRejects(
      () => chain.transaction(txid(1), "solid", undefined, { ...CHECKPOINT, hash: blockId(1) }),
      NotOurChain,
    );
    assertStringIncludes(error.message, `solid block ${HEIGHT} is ${blockId(HEIGHT)}`);
    answered.resolve();
    assertEquals((await underWay).kind, "found");
    assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain"]);
  },
});
