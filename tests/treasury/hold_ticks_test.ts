import { assert, assertEquals } from "@std/assert";
import { endComparison, readOpenHolds, setHoldBound } from "../../ledger/failover/holds.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readInFlight } from "../../ledger/treasury/in_flight.ts";
import { adoptSigned } from "../../ledger/treasury/signing.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const DAY = 86_400_000;
/** A chain that counts blocks: 150 of 0.4 s are a life. */
const COUNTED = { lifeTicks: 150, lifetimeMs: 60_000, blockMs: 400 };

async function openHold(sql: Sql): Promise<void> {
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_1', 'declared', 'test', 'op')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_1', 'TRX', 0, 0)`;
}

/** Places the solid cursor at a block whose parent has this tick. */
async function scanTo(sql: Sql, previousTick: number, previousTime: number): Promise<void> {
  const [time, before] = [new Date(previousTime + 400), new Date(previousTime)];
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('TRX', 'solid', 9000, 'h', ${time}, ${before}, ${previousTick + 1}, ${previousTick})
    ON CONFLICT (network, view) DO UPDATE SET time = excluded.time, previous_time = excluded.previous_time,
      tick = excluded.tick, previous_tick = excluded.previous_tick`;
}

test("a hold ends by the chain's count of lives, whatever the times of its blocks say", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await openHold(sql);
  const now = Date.now();
  const reached = { height: 8_000, time: now, tick: 5_000, ...COUNTED };
  assertEquals(await setHoldBound(sql, "fov_1", "TRX", reached), true);
  const [hold] = await readOpenHolds(sql, "TRX");
  assert(hold !== undefined && hold.untilTick !== null && hold.untilTime !== null);
  // a block of this moment, or of the second that the machine took until then
  assert(hold.untilTick >= 5_150 && hold.untilTick < 5_160, String(hold.untilTick));
  // blocks whose times run ahead have ended no life
  await scanTo(sql, hold.untilTick, now + DAY);
  assertEquals(await endComparison(sql, "TRX", ["fov_1"]), []);
  // and blocks whose times lag behind have
  await scanTo(sql, hold.untilTick + 1, now - DAY);
  assertEquals(await endComparison(sql, "TRX", ["fov_1"]), ["fov_1"]);
});

test("a node that is behind makes no hold end sooner: the blocks of the time since count as well", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await openHold(sql);
  const behind = { height: 8_000, time: Date.now() - 600_000, tick: 5_000, ...COUNTED };
  assertEquals(await setHoldBound(sql, "fov_1", "TRX", behind), true);
  const [hold] = await readOpenHolds(sql, "TRX");
  // ten minutes are 1,500 blocks
  assert((hold?.untilTick ?? 0) >= 5_000 + 1_500 + 150, String(hold?.untilTick));
  // what was scanned before is no newer than the newest block
  await sql`UPDATE hub.failover_network SET head_height = NULL, until_time = NULL, until_tick = NULL`;
  await scanTo(sql, 7_999, Date.now());
  assertEquals(await setHoldBound(sql, "fov_1", "TRX", behind), true);
  assertEquals((await readOpenHolds(sql, "TRX"))[0]?.untilTick, 8_000 + 150);
});

test("where a tick is a millisecond of block time, the last tick is the time to the millisecond", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await openHold(sql);
  const ahead = Date.now() + 120_000;
  const reached = {
    height: 8_000,
    time: ahead,
    tick: ahead,
    lifeTicks: 300_000,
    lifetimeMs: 300_000,
    blockMs: 3_000,
  };
  assertEquals(await setHoldBound(sql, "fov_1", "TRX", reached), true);
  assertEquals(await readOpenHolds(sql, "TRX"), [
    {
      failoverId: "fov_1",
      untilTime: ahead + 300_000,
      untilTick: ahead + 300_000,
      headHeight: 8_000,
    },
  ]);
});

test("only what is dead by its own count before the hold is over is adopted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  for (const id of ["out_early", "out_late"]) {
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 1, 'hot', 'T', 'queued', now() - interval '1 minute', now())`;
  }
  await openHold(sql);
  await sql`UPDATE hub.failover_network SET head_height = 8000, until_time = now() + interval '1 minute', until_tick = 5150`;
  const row = (outgoingId: string, diesAfter: number) => ({
    outgoingId,
    merchantId,
    network: "TRX" as const,
    txid: outgoingId.padEnd(64, "0"),
    bytes: "bytes",
    diesAfter,
    expiresAt: Date.now(),
    feeLimit: ZERO,
    sinceHeight: 7_900,
    place: 0,
    nonce: null,
    intents: 1,
  });
  const adopted = await adoptSigned(sql, "TRX", [row("out_early", 5_150), row("out_late", 5_151)]);
  assertEquals([...adopted], ["out_early"]);
  assertEquals(await readInFlight(sql, "TRX", 10), [], "and none of it is sent");
});

test("the database keeps no hold whose last tick is known without its time, nor the other way round", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await openHold(sql);
  const refused = await sql`UPDATE hub.failover_network SET until_tick = 7`.catch(String);
  assert(String(refused).includes("failover_network_tick"));
});
