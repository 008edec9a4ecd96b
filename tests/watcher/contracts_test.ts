import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Currency } from "../../ledger/money/pair.ts";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { countOldClaims } from "../../ledger/quarantine.ts";
import {
  markReadWithContracts,
  readMissedBlocks,
  storeContracts,
} from "../../ledger/watcher/cursor.ts";
import { passedOverReasons, readPassedOver } from "../../app/health/deposits.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWatched, DEPOSITS, HOT_WALLET, watch } from "./support/watch.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding({ ...DATABASE, write: true });

test("blocks that were read without the contract of a token are told, until they are read again with it", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const address = newWallet().base58;
    await addWatched(sql, address);
    const { address: usdc } = await chain.post("/dev/token", { symbol: "USDC", decimals: 6 });
    await chain.mine(5);
    const adapter = (contracts: Partial<Record<Currency, string>>) =>
      createTronChain({
        network: "TRX",
        nodeUrls: [chain.url],
        contracts,
        deposits: DEPOSITS,
        hotWallet: HOT_WALLET,
      });
    let tron = adapter({ USDT: chain.usdt });
    const watcher = watch(sql, () => tron);
    await watcher.look();
    const begun = watcher.status().readSolid;
    await chain.post("/dev/transfer", { to: address, amount: "7", currency: usdc });
    await chain.mine(10);
    await watcher.lookOn();
    assertEquals(await readMissedBlocks(sql), []);
    const pairs = [{ network: "TRX", currency: "USDC", depositsEnabled: true }] as const;
    const reasons = async () =>
      passedOverReasons(
        pairs,
        { networks: ["TRX"], currencies: () => tron.capabilities.currencies },
        await readPassedOver(sql),
      );
    assertStringIncludes((await reasons()).join(), "deposits of USDC are enabled and passed over");

    const { readSolid } = watcher.status();
    tron = adapter({ USDT: chain.usdt, USDC: usdc });
    watcher.restart();
    await chain.mine(2);
    await watcher.lookOn();
    const missed = { network: "TRX", currency: "USDC", first: begun + 1, last: readSolid } as const;
    assertEquals(await readMissedBlocks(sql), [missed]);
    assertStringIncludes((await reasons()).join(), `blocks ${begun + 1} to ${readSolid} were read`);
    const rescan = (from: number, to: number) =>
      rescanBlocks(
        { sql, chain: tron, network: "TRX", stopped: null, wake: (id) => watcher.journal.wake(id) },
        from,
        to,
        AbortSignal.timeout(60_000),
      );
    await rescan(begun + 3, begun + 4);
    assertEquals(await readMissedBlocks(sql), [missed], "what touches no end leaves it");
    await rescan(begun + 1, begun + 4);
    await rescan(begun + 5, readSolid + 1);
    assertEquals([await readMissedBlocks(sql), await reasons()], [[], []]);
    const found =
      await sql`SELECT data ->> 'amount' AS amount FROM book.inbox WHERE phase = 'solid'`;
    assertEquals(found.map((row) => row["amount"]), ["7"]);
    await watcher.journal.stop(1_000);
  }));

test("a contract that comes back has missed what was read since it left, one that stays has not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const at = async (height: number) => {
    await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
      VALUES ('TRX', 'solid', ${height}, 'h', now(), now(), 7, 6)
      ON CONFLICT (network, view) DO UPDATE SET height = excluded.height`;
    await sql`DELETE FROM hub.scanned_range`;
    await sql`
      INSERT INTO hub.scanned_range (network, first_height, last_height) VALUES ('TRX', 1, ${height})`;
  };
  const note = (...contracts: [Currency, string][]) =>
    storeContracts(sql, "TRX", new Map(contracts));
  const ranges = async () =>
    (await readMissedBlocks(sql)).map(({ currency, first, last }) => [currency, first, last]);
  await note(["USDT", "one"]);
  await at(100);
  await note(["USDT", "one"]);
  assertEquals(await ranges(), []);
  await note(["USDT", "two"]);
  assertEquals(await ranges(), [["USDT", 1, 100]]);
  await at(150);
  await note(["USDT", "one"]);
  assertEquals(await ranges(), [["USDT", 101, 150]]);
  await at(200);
  await note(["USDT", "one"]);
  assertEquals(await ranges(), [["USDT", 101, 150]]);
  await markReadWithContracts(sql, "TRX", { first: 90, last: 120 }, await historyOf(sql));
  await markReadWithContracts(sql, "TRX", { first: 140, last: 200 }, await historyOf(sql));
  assertEquals(await ranges(), [["USDT", 121, 139]]);
  await markReadWithContracts(sql, "TRX", { first: 121, last: 139 }, await historyOf(sql));
  assertEquals(await ranges(), []);
});

test("a transfer that waits for a deposit by hand is told after some minutes", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const hold = (txid: string, minutes: number) =>
    sql`
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine, created_at)
      VALUES (${merchantId}, 'TRX', ${txid}, 0, 'solid', '{}', 'claimed: by dep_1, which is not decided',
        now() - make_interval(mins => ${minutes}))`;
  await hold("a", 2);
  const told = async () =>
    passedOverReasons([], { networks: [], currencies: () => [] }, await readPassedOver(sql));
  assertEquals([await countOldClaims(sql, 10), await told()], [0, []]);
  await hold("b", 11);
  assertEquals(await told(), ["1 transfers wait for a deposit by hand that was not decided"]);
});
