/**
 * A clock that is wrong for a moment, or for good: the scan goes by time that has passed, which no
 * clock that is set can change.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { listUnreadable, LONGEST_PAUSE_MS } from "../../ledger/watcher/unreadable_blocks.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { newWallet, type TestChain, withChain } from "../dev_chain/support/chain.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, type Watch, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A watcher that has begun on a chain, and the height up to which it has read. */
async function scene(
  body: (at: {
    chain: TestChain;
    sql: Sql;
    watcher: Watch;
    read: () => Promise<number | undefined>;
  }) => Promise<void>,
): Promise<void> {
  await withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    await addWatched(sql, newWallet().base58);
    const watcher = watch(sql, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(5);
    await watcher.look();
    try {
      const read = async () => (await readCursor(sql, "TRX", "solid"))?.height;
      await body({ chain, sql, watcher, read });
    } finally {
      await watcher.journal.stop(1_000);
    }
  });
}

for (
  const [what, jump] of [
    ["set back by an hour", -HOUR_MS],
    ["set forward by an hour", HOUR_MS],
    ["set forward by a year and then back", 365 * DAY_MS],
  ] as const
) {
  test(`a scan goes on at once when the clock is ${what}`, () =>
    scene(async ({ chain, watcher, read }) => {
      watcher.clock += jump;
      await watcher.look();
      if (jump > DAY_MS) watcher.clock -= jump;
      await chain.mine(10);
      watcher.pass(1_500);
      await watcher.lookOn();
      assertEquals(await read(), watcher.status().chainSolid);
      const engine = { nodes: () => [], watched: new Map([["TRX", watcher.status()]] as const) };
      assertEquals(chainReasons(engine, "TRX", watcher.clock, watcher.monotonic), []);
    }));
}

test("a block that could not be read is asked for again after its pause, whatever clock wrote it down", () =>
  scene(async ({ chain, sql, watcher, read }) => {
    await chain.mine(5);
    const path = "/walletsolidity/gettransactioninfobyblocknum";
    await chain.post("/dev/transfer", { to: newWallet().base58, amount: "5" });
    await chain.mine(5);
    await chain.post("/dev/config", { faults: [{ path, kind: "lagging-receipts" }] });
    watcher.clock += 7 * DAY_MS;
    await watcher.look();
    watcher.clock -= 7 * DAY_MS;
    await chain.post("/dev/config", { faults: [] });
    const [unread] = await listUnreadable(sql, "TRX");
    assertEquals((unread?.nextTryAt ?? Infinity) - Date.now() < LONGEST_PAUSE_MS, true);
    watcher.pass(LONGEST_PAUSE_MS);
    await watcher.lookOn();
    assertEquals(await read(), watcher.status().chainSolid);
  }));

test("a kept time further ahead than the longest pause is a wrong clock's: its block is asked for at once", () =>
  scene(async ({ chain, sql, watcher, read }) => {
    await chain.mine(5);
    const height = (await read() ?? 0) + 1;
    await sql`
      INSERT INTO hub.unreadable_block (network, view, height, reason, next_try_at)
      VALUES ('TRX', 'solid', ${height}, 'no node has it', now() + interval '7 days')`;
    watcher.restart();
    await watcher.lookOn();
    assertEquals(await read(), watcher.status().chainSolid);
    assertEquals(await listUnreadable(sql, "TRX"), []);
  }));
