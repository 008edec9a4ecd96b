import { assertEquals, assertLess } from "@std/assert";
import { awaitBooking, findUnbooked } from "../../actors/watcher/await_booking.ts";
import { readTransferStates } from "../../ledger/watcher/pending_deposits.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { rowsRead } from "../support/rows_read.ts";

const test = testNeeding(DATABASE);
const TRANSFERS = 5_000;
const ALL = Array.from({ length: TRANSFERS }, (_, n) => n);

/** Books that take in a number of a transaction's transfers per pause, and what was asked of them. */
function slowBooks(
  perPause: number,
  aside: { logIndex: number; quarantine: string } | null = null,
) {
  let [booked, now] = [0, 0];
  const asked: number[] = [];
  const read = (logIndexes: readonly number[]) => {
    asked.push(logIndexes.length);
    return Promise.resolve(logIndexes.map((logIndex) => ({
      logIndex,
      booked: logIndex < booked && logIndex !== aside?.logIndex,
      quarantine: logIndex === aside?.logIndex ? aside.quarantine : null,
    })));
  };
  const clock = {
    now: () => now,
    pause: (ms: number) => {
      now += ms;
      booked += perPause;
      return Promise.resolve();
    },
  };
  const total = () => asked.reduce((sum, count) => sum + count, 0);
  return { read, clock, asked, total };
}

Deno.test("a claim of thousands of transfers reads a hundred at a time, and each of them about once", async () => {
  const quick = slowBooks(500);
  assertEquals(await awaitBooking(quick.read, ALL, 10_000, quick.clock), "booked");
  assertEquals(Math.max(...quick.asked), 100);
  assertLess(quick.total(), 2 * TRANSFERS);
  const unbooked = slowBooks(0);
  assertEquals((await findUnbooked(unbooked.read, ALL)).length, TRANSFERS);
  assertEquals([unbooked.asked.length, unbooked.total()], [50, TRANSFERS]);
});

Deno.test("a claim whose merchant books nothing asks for the same hundred, ever more seldom, and ends in time", async () => {
  const stuck = slowBooks(0);
  assertEquals(await awaitBooking(stuck.read, ALL, 10_000, stuck.clock), "open");
  // every 20 ms it would be 500 times, and 2,500,000 states
  assertLess(stuck.asked.length, 60);
  assertLess(stuck.total(), 6_000);
});

Deno.test("a claim ends with the first transfer that was put aside, wherever it is, unless it waits for a deposit by hand", async () => {
  const aside = { logIndex: 3_210, quarantine: "unclaimed: deposits are disabled" };
  const shut = slowBooks(500, aside);
  assertEquals(await awaitBooking(shut.read, ALL, 10_000, shut.clock), { ...aside, booked: false });
  const byHand = slowBooks(500, { logIndex: 7, quarantine: "claimed: by dep_1" });
  assertEquals(await awaitBooking(byHand.read, ALL, 10_000, byHand.clock), "open");
});

test("the states of a hundred transfers cost a few rows each, however many their transaction has", async () => {
  await using database = await testDatabase({ unused: true });
  const one = database.connect({ max: 1 });
  await database.sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT 'mer_1', 'BNB', 'tx', i, 'solid', '{}' FROM generate_series(0, ${TRANSFERS - 1}) i`;
    await tx`
      INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
        txid, log_index, created_at, updated_at, cleared_at)
      SELECT 'dep_' || i, 'mer_1', i + 1, i + 1, 'USDT', 'BNB', 1, 'CONFIRMED', 'x', 'tx', i, now(), now(), now()
      FROM generate_series(0, ${TRANSFERS - 1}, 2) i`;
  });
  const transaction = { network: "BNB", txid: "tx" } as const;
  const look = async () => {
    const states = await readTransferStates(one, "mer_1", transaction, ALL.slice(2_000, 2_100));
    assertEquals(states.length, 100);
    assertEquals(states.every(({ logIndex, booked }) => booked === (logIndex % 2 === 0)), true);
  };
  for (const statistics of [false, true]) {
    if (statistics) await database.sql`ANALYZE book.inbox, book.deposit`;
    for (const table of ["book.inbox", "book.deposit"]) {
      assertLess(await rowsRead(one, table, look), 150, `${table}, ${statistics}`);
    }
  }
});
