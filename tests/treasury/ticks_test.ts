import { assertEquals } from "@std/assert";
import { paymentActors } from "../../actors/payment/payment_actor.ts";
import { Timers } from "../../actors/runtime/timers.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import {
  readExpiredAttempts,
  readRereads,
  readUnscanned,
} from "../../ledger/treasury/expired_attempts.ts";
import { markScanned, type ReadBlock } from "../../ledger/watcher/cursor.ts";
import { addMerchant, addTransfer, amount, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { ENDLESS, tickAt, timeAt } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { historyOf, placeCursor } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const LONG_AGO = timeAt(0) - 86_400_000;
const FAR_AHEAD = timeAt(0) + 86_400_000;

/** A scan that has come to block 20, whose parent is block 18. */
const AT: ReadBlock = {
  height: 20,
  hash: "b20",
  time: timeAt(20),
  previousTime: timeAt(18),
  tick: tickAt(20),
  previousTick: tickAt(18),
};

/** A signed payout, its transaction of the same name. */
async function addSigned(sql: Sql, id: string, diesAfter: number, expiresAt: number) {
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 1, 'T', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit,
      since_height, known_height)
    VALUES (${id}, 1, 'mer_1', 'TRX', ${id}, '{}', ${new Date(
    expiresAt,
  )}, ${diesAfter}, now(), 0, 5, 5)`;
}

test("a transaction is dead by its tick, whatever the time is that people are told", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql, "past", tickAt(18) - 1, FAR_AHEAD);
  await addSigned(sql, "at-the-parent", tickAt(18), LONG_AGO);
  await addSigned(sql, "at-the-block", tickAt(19), LONG_AGO);
  await addSigned(sql, "endless", ENDLESS, LONG_AGO);
  const solid = await placeCursor(sql, "TRX", AT);
  const { previousTick } = solid;
  const large = await readExpiredAttempts(sql, "TRX", previousTick, amount("0"), 9);
  assertEquals(large.map(({ txid }) => txid), ["past"]);
  assertEquals(await readUnscanned(sql, "TRX", previousTick, 9, 9), ["past"]);
  await sql`UPDATE book.attempt SET known_height = 9`;
  const rereads = await readRereads(sql, "TRX", previousTick, 9);
  assertEquals(rereads.map(({ outgoingId }) => outgoingId), ["past"]);
  await sql`UPDATE book.attempt SET known_height = 5`;
  assertEquals((await expireAttempts(sql, "TRX", solid, 9)).requeued, ["past"]);
  const [kept] = await sql<{ tick: number }[]>`
    SELECT (evidence->'previousTick')::float8 AS tick FROM book.attempt WHERE outcome = 'expired'`;
  assertEquals(kept?.tick, previousTick);
});

for (
  const [what, diesAfter, expiresAt, vanishes] of [
    ["past its last tick has vanished", tickAt(18) - 1, FAR_AHEAD, 1],
    ["at its last tick may come back", tickAt(18), LONG_AGO, 0],
    ["without a last tick may come back", ENDLESS, LONG_AGO, 0],
  ] as const
) {
  test(`a deposit whose transaction is ${what}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const journal = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await addTransfer(sql, merchantId, "5", { phase: "seen", expiresAt, diesAfter });
    journal.wake(merchantId);
    await until(async () => (await sql`SELECT FROM book.deposit`).length === 1);
    const [row] = await sql<{ id: string }[]>`SELECT id FROM book.deposit`;
    await placeCursor(sql, "TRX", AT);
    await markScanned(sql, "TRX", { first: 5, last: 20 }, 16, await historyOf(sql));
    await sql`
      INSERT INTO hub.scanned_range (network, first_height, last_height) VALUES ('TRX', 5, 20)
      ON CONFLICT DO NOTHING`;
    const { activate } = paymentActors({
      sql,
      timers: new Timers(sql, () => {}),
      now: () => timeAt(20),
      recheckMs: () => 1_000,
      wakeMerchant: () => {},
    });
    await (await activate(row?.id ?? "")).receive({ type: "timer", name: "expiry" });
    const gone = await sql`SELECT FROM book.inbox WHERE phase = 'vanished'`;
    assertEquals(gone.length, vanishes);
    await journal.stop(1_000);
  });
}
