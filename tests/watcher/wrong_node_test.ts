import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { OpenChain } from "../../chains/family.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { newWallet, type TestChain, withChain } from "../dev_chain/support/chain.ts";
import { until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { startScriptedNode } from "../tron/support/scripted_node.ts";
import { withFork } from "./support/fork.ts";
import { adapterOver, addWatched, type Watch, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });
const ABSURD = 10 ** 12;

/** A watcher over nodes that a test exchanges, with an address of a merchant's. */
async function withWatch(
  chainOf: () => OpenChain,
  body: (at: { watcher: Watch; sql: Sql; address: string }) => Promise<void>,
): Promise<void> {
  await using database = await testDatabase();
  const { sql } = database;
  const address = newWallet().base58;
  await addWatched(sql, address);
  const watcher = watch(sql, chainOf);
  try {
    await body({ watcher, sql, address });
  } finally {
    await watcher.journal.stop(1_000);
  }
}

async function untilConfirmed(sql: Sql): Promise<void> {
  await until(async () =>
    (await sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`).length === 1
  );
}

test("where the first node is of another branch, the one that continues our blocks is read, and the first set apart", () =>
  withFork(async (right, fork) => {
    let chain = adapterOver([right.url], right.usdt);
    await withWatch(() => chain, async ({ watcher, sql, address }) => {
      await right.mine(10);
      await watcher.look();
      await fork.post("/dev/transfer", { to: address, amount: "1000" });
      await fork.mine(40);
      await right.post("/dev/transfer", { to: address, amount: "4" });
      await right.mine(30);
      chain = adapterOver([fork.url, right.url], right.usdt);
      watcher.restart();
      await watcher.lookOn();
      await until(() => watcher.status().stopped === null);
      const { readSolid } = watcher.status();
      assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain", "ready"]);
      assertStringIncludes(chain.nodes.states[0]?.failure ?? "", "is of another branch");
      const engine = { nodes: () => chain.nodes.states, watched: new Map() };
      assertStringIncludes(chainReasons(engine, "TRX", Date.now()).join(), "is of another chain");
      await right.mine(5);
      await watcher.lookOn();
      assert(watcher.status().readSolid > readSolid, "the scan goes on with the right node");
      await untilConfirmed(sql);
      const [row] = await sql`SELECT amount FROM book.deposit`;
      assertEquals(Number(row?.["amount"]), 4);

      // the very same two nodes, where none continues what was read
      chain = adapterOver([fork.url, fork.url], right.usdt);
      watcher.restart();
      await fork.mine(40);
      await watcher.look();
      assertStringIncludes(watcher.status().stopped ?? "", "does not continue block");
    });
  }));

/** A node that passes everything on to a chain, and boasts of its newest block. */
function boaster(chain: TestChain, boast: () => boolean) {
  const pass = (path: string) => async (body: Record<string, unknown>) => {
    const answer = await chain.post(path, body);
    if (!boast() || !path.endsWith("/getblock")) return answer;
    const raw = { ...answer.block_header.raw_data, number: ABSURD };
    // an id begins with its height
    const blockID = ABSURD.toString(16).padStart(16, "0") + answer.blockID.slice(16);
    return { ...answer, blockID, block_header: { ...answer.block_header, raw_data: raw } };
  };
  return startScriptedNode(Object.fromEntries(
    ["getblock", "getblockbynum", "getblockbylimitnext", "gettransactioninfobyblocknum"].flatMap((
      name,
    ) => [`/wallet/${name}`, `/walletsolidity/${name}`].map((path) => [path, pass(path)])),
  ));
}

test("one absurd height of a node neither keeps the head view off nor the network behind", () =>
  withChain(async (right) => {
    let isAbsurd = false;
    await using liar = boaster(right, () => isAbsurd);
    const chain = adapterOver([liar.url, right.url], right.usdt);
    await withWatch(() => chain, async ({ watcher, sql, address }) => {
      await right.mine(8);
      await watcher.look();
      await right.mine(2);
      await watcher.look();
      const before = watcher.status();
      isAbsurd = true;
      for (let i = 0; i < 4; i++) {
        watcher.pass(60_000);
        await right.mine(1);
        await watcher.look();
      }
      const during = watcher.status();
      assertEquals(during.chainSolid, before.chainSolid + 4);
      assertEquals([during.readSolid, during.readHead], [
        before.readSolid + 4,
        before.readHead + 4,
      ]);
      isAbsurd = false;
      await right.post("/dev/transfer", { to: address, amount: "4" });
      await right.mine(1);
      watcher.pass(60_000);
      await watcher.look();
      assertEquals(watcher.status().readHead, before.readHead + 5);
      await right.mine(4);
      await watcher.look();
      await untilConfirmed(sql);
    });
  }));

test("a node that was absurd in the very first look is believed no longer than ten minutes", () =>
  withChain(async (right) => {
    let isAbsurd = false;
    await using liar = boaster(right, () => isAbsurd);
    let chain = adapterOver([right.url], right.usdt);
    await withWatch(() => chain, async ({ watcher }) => {
      await right.mine(8);
      await watcher.look();
      await right.mine(2);
      // without a block of our own that it was told of, an adapter cannot tell what is absurd
      chain = adapterOver([liar.url], right.usdt);
      watcher.restart();
      isAbsurd = true;
      await watcher.look().catch(() => {});
      assertEquals([watcher.status().chainSolid, watcher.status().readSolid], [ABSURD, 7]);
      isAbsurd = false;
      watcher.pass(11 * 60_000);
      await right.mine(2);
      await until(() => chain.nodes.states.every(({ coolingCalls }) => coolingCalls === 0));
      await watcher.lookOn();
      assertEquals([watcher.status().chainSolid, watcher.status().readSolid], [9, 9]);
      assertEquals(watcher.status().readHead, 12);
    });
  }));
