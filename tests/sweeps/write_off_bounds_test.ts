/**
 * Writing off at its bounds: more transfers than one sweep lists, transfers of blocks that the scan
 * has not passed yet, and what the schema refuses to any writer.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { writeOff } from "../../actors/sweeper/write_off.ts";
import { watchAddresses } from "../../ledger/addresses/watched_addresses.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { readAddressHoldings } from "../../ledger/reconcile/holdings.ts";
import { findSweepAddress } from "../../ledger/sweeps/sweep_addresses.ts";
import { MOST_ITEMS } from "../../ledger/sweeps/sweep_facts.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { AUDIT } from "./support/audit.ts";
import { openDesk, tellOf } from "./support/desk.ts";
import { type House, openHouse } from "./support/house.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);

async function untilNoted({ sql, until }: House, count: number): Promise<void> {
  await until("the transfers", async () => {
    const rows = await sql`SELECT 1 FROM book.sweep_item`;
    return rows.length === count;
  });
}

test("however many transfers are gone from an address, they are written off at once", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("issued");
  const count = MOST_ITEMS + 1;
  const event = { from: SOMEWHERE, to: own, amount: "2000000" };
  await tellOf(house, ...Array.from({ length: count }, () => event));
  await untilNoted(house, count);
  const { status, body } = await desk.writeOff(own, String(2 * count));
  assertEquals([status, body.message, body.transfers], [200, undefined, count]);
  const [held] = await readAddressHoldings(sql, "TRX", Number.MAX_SAFE_INTEGER);
  assertEquals(held?.amount, 0n);
  assertEquals(await booksFaults(sql), []);
});

test("nothing of a block that is being read is written off", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const cursor = {
    height: 7,
    hash: "07",
    time: 7_000,
    previousTime: 4_000,
    tick: 7_000,
    previousTick: 4_000,
  };
  await moveCursor(sql, "TRX", "solid", null, cursor);
  await watchAddresses(sql, [{
    address: SOMEWHERE,
    network: "TRX",
    merchantId: "mer_x",
    addressId: "adr_x",
    walletIndex: 0,
  }]);
  // what a block brought is noted before the cursor passes it
  const transfer = {
    merchantId: "mer_x",
    addressId: "adr_x",
    txid: "ab".repeat(32),
    logIndex: 0,
    currency: "USDT" as const,
    amount: amount("100"),
    from: SOMEWHERE,
    to: SOMEWHERE,
    height: 8,
    diesAfter: 9_000,
    expiresAt: 9_000,
  };
  await recordTransfers(sql, "TRX", "solid", [transfer]);
  const target = await findSweepAddress(sql, "TRX", SOMEWHERE, "USDT");
  if (target === null) throw new Error("Cannot go on as nothing waits");
  // a node that has the newest block that was passed shows nothing of the next one
  const asked: unknown[] = [];
  const chain: Parameters<typeof writeOff>[0]["chain"] = {
    capabilities: paperChain("TRX").capabilities,
    balanceOf: (_address, _asset, _signal, checkpoint) => {
      asked.push(checkpoint?.height);
      return Promise.resolve(ZERO);
    },
  };
  const ask = () =>
    writeOff(
      { sql, chain, stopped: null, mayStillAsk },
      target,
      amount("100"),
      "because",
      AUDIT,
      5_000,
    );
  assertEquals(await ask(), {
    kind: "in_doubt",
    reason: "TRX is read to block 7, block 8 is being read",
  });
  assertEquals(asked, []);
  // a node that has that block as well shows what is so
  const passed = {
    height: 8,
    hash: "08",
    time: 10_000,
    previousTime: 7_000,
    tick: 10_000,
    previousTick: 7_000,
  };
  assertEquals(
    await moveCursor(sql, "TRX", "solid", { ...cursor, history: await historyOf(sql) }, passed, 1),
    true,
  );
  assertEquals(await ask(), { kind: "written_off", transfers: 1 });
  assertEquals(asked, [8]);
});

test("nobody writes more off than is said, not even in that transaction", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql } = house;
  const own = await house.address("issued");
  const event = { from: SOMEWHERE, to: own, amount: "5000000" };
  const txid = await tellOf(house, event, event);
  await untilNoted(house, 2);
  const more = () =>
    sql.begin(async (tx) => {
      await tx`
        INSERT INTO book.sweep_write_off VALUES ('aud_x', 'TRX', ${own}, 'USDT', 5, 0, 7, 'because', 'me', now())`;
      const done = (logIndex: number) =>
        tx`
        UPDATE book.sweep_item SET done = true, write_off = 'aud_x'
        WHERE txid = ${txid} AND log_index = ${logIndex}`;
      await done(0);
      // what is looked at when a transaction commits may be looked at before
      await tx`SET CONSTRAINTS ALL IMMEDIATE`;
      await done(1);
    });
  await assertRejects(more, Error, "another amount");
  assertEquals(await booksFaults(sql), []);
});

test("what a sweep moved beside what it lists holds up a write-off only while that may be listed", async () => {
  await using house = await openHouse();
  const { sql } = house;
  await using desk = await openDesk(house);
  const own = await house.address("top_up");
  await house.pay(own, "50");
  await house.mine(1);
  // half of this transfer is there, or all of the one before: nothing tells which
  await tellOf(house, { from: SOMEWHERE, to: own, amount: "100000000" });
  await house.mine(1);
  const last = await house.pay(own, "10");
  await house.until("the sweep of what is there", async () => {
    await sql`UPDATE book.sweep_item SET found_at = now() - interval '1 hour' WHERE NOT done`;
    await house.lookNow();
    return await house.deposit(last) === "CONFIRMED 10 fee 1 effect 9";
  });
  assertEquals(await house.held(own), 0n);
  const { status, body } = await desk.writeOff(own, "150");
  assertEquals([status, body.message, body.transfers], [200, undefined, 2]);
  assertEquals(await house.balance(), "9/150");
  const [held] = await readAddressHoldings(sql, "TRX", Number.MAX_SAFE_INTEGER);
  assertEquals(held?.amount, 0n);
  assertEquals(await booksFaults(sql), []);
});
