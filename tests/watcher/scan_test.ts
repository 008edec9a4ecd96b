import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { findGaps } from "./support/find_gaps.ts";
import { listUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { newWallet, type TestChain, withChain } from "../dev_chain/support/chain.ts";
import { booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, type Watch, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });
const SOLID_RECEIPTS = "/walletsolidity/gettransactioninfobyblocknum";
const HEAD_RECEIPTS = "/wallet/gettransactioninfobyblocknum";

/** A chain, a watcher on it that has begun, and an address of a merchant's. */
async function scene(
  body: (at: {
    chain: TestChain;
    sql: Sql;
    watcher: Watch;
    merchantId: string;
    /** Pays to the merchant's address. */
    pay: (amount: string, expiresInMs?: number) => Promise<string>;
    status: (txid: string) => Promise<string | undefined>;
    available: () => Promise<string | undefined>;
  }) => Promise<void>,
): Promise<void> {
  await withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const address = newWallet().base58;
    const merchantId = await addWatched(sql, address);
    const watcher = watch(sql, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(5);
    await watcher.look();
    try {
      await body({
        chain,
        sql,
        watcher,
        merchantId,
        pay: async (amount, expiresInMs) => {
          const paid = await chain.post("/dev/transfer", {
            to: address,
            amount,
            ...(expiresInMs === undefined ? {} : { expiresInMs }),
          });
          return paid.txid;
        },
        status: async (txid) => {
          const [row] = await sql<{ status: string }[]>`
            SELECT status FROM book.deposit WHERE txid = ${txid}`;
          return row?.status;
        },
        available: async () => {
          const [row] = await sql<{ available: string }[]>`
            SELECT trim_scale(available)::text AS available FROM book.balance
            WHERE merchant_id = ${merchantId}`;
          return row?.available;
        },
      });
    } finally {
      await watcher.journal.stop(1_000);
    }
  });
}

test("catching up after any downtime reads every block, credits every deposit once and says how it goes", () =>
  scene(async ({ chain, sql, watcher, pay, available }) => {
    const began = (await readCursor(sql, "TRX", "solid"))?.height ?? -1;
    for (let i = 0; i < 12; i++) {
      await pay("1.5");
      await chain.mine(60);
    }
    watcher.restart();
    await watcher.look();
    const during = watcher.status();
    assertEquals(during.readSolid, began + 500);
    assertEquals(during.catchUp?.left, during.chainSolid - during.readSolid);
    const engine = { nodes: () => [], watched: new Map([["TRX", during]] as const) };
    const left = during.chainSolid - during.readSolid;
    // the first look of a process tells the block that is waited for
    const awaited = `TRX signs nothing before block ${during.signsFrom} is read, ${left} are left`;
    // what is final is 57 s old, and a minute more is on time
    const late = during.readSolidTime + 57_000 + 61_000;
    assertEquals(chainReasons(engine, "TRX", late, watcher.monotonic), [
      `TRX is 61 s behind, ${left} blocks`,
      awaited,
    ]);
    assertEquals(chainReasons(engine, "TRX", late - 1_000, watcher.monotonic), [awaited]);
    const stood = new Map(
      [["TRX", { ...during, chainSolid: during.readSolid, signsFrom: during.readSolid }]] as const,
    );
    assertEquals(
      chainReasons({ nodes: () => [], watched: stood }, "TRX", late, watcher.monotonic),
      [],
      "a chain that makes no block is not read late",
    );
    await watcher.lookOn();
    const { readSolid, chainSolid, catchUp } = watcher.status();
    assertEquals([readSolid, catchUp], [chainSolid, null]);
    await until(async () => await available() === "18");
    assertEquals(await readScannedRanges(sql, "TRX"), [{ first: began + 1, last: readSolid }]);
    const { readHead } = watcher.status();
    watcher.restart();
    await watcher.look();
    assertEquals(watcher.status().readHead, readHead, "the head goes on where it was");
    assertEquals(await booksFaults(sql), []);
  }));

test("a block that no node gives whole waits on the list, the solid cursor with it, and the head goes on", () =>
  scene(async ({ chain, sql, watcher, pay, status }) => {
    const first = await pay("1");
    await chain.mine(4);
    await chain.post("/dev/config", {
      faults: [{ path: SOLID_RECEIPTS, kind: "lagging-receipts" }],
    });
    await watcher.look();
    const waiting = watcher.status();
    const [unread] = await listUnreadable(sql, "TRX");
    assertEquals([unread?.view, unread?.height, unread?.tries], [
      "solid",
      waiting.readSolid + 1,
      1,
    ]);
    assertStringIncludes(unread?.reason ?? "", "0 receipts for 1 transactions");
    await until(async () => await status(first) === "PENDING");
    await watcher.look();
    assertEquals(watcher.status().unreadable[0]?.tries, 1, "not before its time");
    const second = await pay("2");
    await chain.mine(4);
    watcher.pass(1_000);
    await watcher.look();
    assertEquals(watcher.status().unreadable[0]?.tries, 2);
    assertEquals(watcher.status().readSolid, waiting.readSolid);
    await until(async () => await status(second) === "PENDING");
    const engine = { nodes: () => [], watched: new Map([["TRX", watcher.status()]] as const) };
    assertEquals(chainReasons(engine, "TRX", watcher.clock, watcher.monotonic), []);
    assertStringIncludes(
      chainReasons(engine, "TRX", watcher.clock + 120_000, watcher.monotonic).join(),
      "cannot be read",
    );
    watcher.restart();
    await chain.post("/dev/config", { faults: [] });
    await watcher.look();
    watcher.pass(60_000);
    await watcher.lookOn();
    for (const txid of [first, second]) await until(async () => await status(txid) === "CONFIRMED");
    assertEquals([await listUnreadable(sql, "TRX"), watcher.status().unreadable], [[], []]);
    const cursor = await readCursor(sql, "TRX", "solid");
    assertEquals(findGaps(await readScannedRanges(sql, "TRX"), cursor?.height ?? 0), []);
  }));

test("the head passes a block that stays unreadable and comes back to it", () =>
  scene(async ({ chain, sql, watcher, pay, status }) => {
    await pay("1");
    await chain.mine(1);
    await chain.post("/dev/config", {
      faults: [{ path: HEAD_RECEIPTS, kind: "lagging-receipts", times: 3 }],
    });
    const place = watcher.status().readHead;
    for (let i = 0; i < 3; i++) {
      watcher.pass(60_000);
      await watcher.look();
    }
    assertEquals(watcher.status().readHead, place + 1);
    assertEquals((await listUnreadable(sql, "TRX")).map(({ view }) => view), ["head"]);
    const later = await pay("2");
    await chain.mine(1);
    await watcher.look();
    await until(async () => await status(later) === "PENDING");
    watcher.pass(60_000);
    await watcher.look();
    await until(async () => (await sql`SELECT FROM book.deposit`).length === 2);
    assertEquals(await listUnreadable(sql, "TRX"), []);
  }));

test("a transfer that a reorganisation took back stays pending, comes back, and is confirmed by solid blocks only", () =>
  scene(async ({ chain, sql, watcher, merchantId, pay, status, available }) => {
    const returned = await pay("3");
    await chain.mine(1);
    await watcher.look();
    await until(async () => await status(returned) === "PENDING");
    await chain.post("/dev/reorg", { depth: 1 });
    await watcher.look();
    await chain.mine(1);
    await watcher.look();
    await watcher.look();
    assertEquals([await status(returned), await available()], ["PENDING", "0"]);
    // a wrong proof: told as vanished although it is in a block that will be solid
    await sql`
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT merchant_id, network, txid, log_index, 'vanished', ${
      sql.json({ reason: "a test says so" })
    } || jsonb_build_object('to', address) FROM book.deposit`;
    watcher.journal.wake(merchantId);
    await until(async () => await status(returned) === "FAILED");
    await chain.mine(4);
    await watcher.look();
    await until(async () => await status(returned) === "CONFIRMED");
    assertEquals(await available(), "3");
    const events = await sql`SELECT type FROM book.outbox ORDER BY id`;
    const types = events.map((row) => row["type"]);
    assertEquals(types.filter((type) => type.startsWith("deposit.")), [
      "deposit.failed",
      "deposit.confirmed",
    ]);
    assertEquals(await booksFaults(sql), []);
  }));

test("solid blocks that do not continue what was read stop the scan, not the head, and are told", () =>
  withChain(async (right) => {
    await withChain(async (wrong) => {
      await using database = await testDatabase();
      const { sql } = database;
      let url = right.url;
      const address = newWallet().base58;
      await addWatched(sql, address);
      const watcher = watch(sql, () => adapterOver([url], right.usdt));
      await right.mine(8);
      await wrong.mine(20);
      await watcher.look();
      const before = await readCursor(sql, "TRX", "solid");
      url = wrong.url;
      watcher.restart();
      await watcher.look();
      await watcher.look();
      assertEquals(await readCursor(sql, "TRX", "solid"), before);
      const told = watcher.status();
      assertStringIncludes(told.stopped ?? "", `does not continue block ${before?.height}`);
      const engine = { nodes: () => [], watched: new Map([["TRX", told]] as const) };
      assertStringIncludes(
        chainReasons(engine, "TRX", watcher.clock, watcher.monotonic).join(),
        "is read no further",
      );
      url = right.url;
      watcher.restart();
      await right.post("/dev/transfer", { to: address, amount: "4" });
      await right.mine(20);
      await watcher.look();
      assertEquals(watcher.status().stopped, null);
      await until(async () =>
        (await sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`).length === 1
      );
      await watcher.journal.stop(1_000);
    });
  }));

test("a node of another chain is not believed, whatever its place; the next one is asked", () =>
  withChain(async (right) => {
    await withChain(async (foreign) => {
      await foreign.mine(40);
      await right.mine(8);
      const known = adapterOver([right.url], right.usdt, { checksIdentity: true });
      await known.solid();
      const { genesis } = known.nodes;
      assert(genesis !== null);
      const chain = adapterOver([foreign.url, right.url], right.usdt, { checksIdentity: true });
      chain.nodes.expect(genesis);
      assertEquals((await chain.solid()).height, 5);
      assertEquals((await chain.head()).height, 8);
      assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain", "ready"]);
      const engine = { nodes: () => chain.nodes.states, watched: new Map() };
      assertStringIncludes(chainReasons(engine, "TRX", Date.now()).join(), "is of another chain");
    });
  }));
