import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { setGapWatched } from "../../ledger/failover/history.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { storeReread } from "../../ledger/treasury/expired_attempts.ts";
import {
  type Cursor,
  markReadWithContracts,
  markScanned,
  moveCursor,
  readCursor,
  readScannedRanges,
} from "../../ledger/watcher/cursor.ts";
import { recordVanished } from "../../ledger/watcher/record_transfers.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { historyOf, placeCursor } from "../support/scan_cursor.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });

/** The server continues another history from now on, as one that was promoted does. */
async function promote(sql: Sql): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION hub.history_name() RETURNS text LANGUAGE sql VOLATILE
    AS $$ SELECT 'cluster/2/1' $$`;
}

/** Connections on which something is done before a statement that has a given text. */
function interrupted(real: Sql, text: string, before: () => Promise<void>): Sql {
  return new Proxy(real, {
    apply(target, self, args) {
      const [strings] = args;
      const isIt = Array.isArray(strings) && strings.join("?").includes(text);
      if (!isIt) return Reflect.apply(target, self, args);
      return before().then(() => Reflect.apply(target, self, args));
    },
  });
}

test("a deposit whose block was recorded in one history is read again where the cursor would move in the next", () =>
  withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const receiver = newWallet().base58;
    await addWatched(sql, receiver);
    let isDue = false;
    let lost = -1;
    const pool = interrupted(sql, "UPDATE hub.cursor", async () => {
      if (!isDue) return;
      isDue = false;
      // what a standby lacks that did not receive the last commits
      lost = (await sql`DELETE FROM book.inbox WHERE phase = 'solid' RETURNING 1`).length;
      await promote(sql);
    });
    const watcher = watch(pool, () => adapterOver([chain.url], chain.usdt));
    await chain.mine(5);
    await watcher.lookOn();
    await chain.post("/dev/transfer", { to: receiver, amount: "3" });
    await chain.mine(25);
    isDue = true;
    await watcher.lookOn();
    await watcher.lookOn();
    await watcher.journal.stop(1_000);
    assertEquals(lost, 1, "it was recorded in the history that is lost");
    const solid = await sql`SELECT FROM book.inbox WHERE phase = 'solid'`;
    assertEquals(solid.length, 1);
    assertEquals((await readCursor(sql, "TRX", "solid"))?.history, "cluster/2/1/0");
  }));

test("nothing that was read in a lost history is proven in the next one", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const EXPIRY = 1_700_000_000_000;
  const time = EXPIRY + 60_000;
  const at = (height: number) => ({
    height,
    hash: `h${height}`,
    time,
    previousTime: time,
    tick: time,
    previousTick: time,
  });
  const lost = await historyOf(sql);
  await moveCursor(sql, "TRX", "solid", null, at(9));
  const before = await readCursor(sql, "TRX", "solid");
  assert(before !== null);
  assert(await moveCursor(sql, "TRX", "solid", before, at(12), 3));
  const cursor = { ...before, ...at(12) };
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1, 'T', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, since_height, known_height)
    VALUES ('out_1', 1, 'mer_1', 'TRX', 'aa', '{}', ${new Date(
    EXPIRY,
  )}, ${EXPIRY}, now(), 0, 2, 9)`;
  await sql`
    INSERT INTO hub.scanned_contract (network, currency, contract, missed_from, missed_to)
    VALUES ('TRX', 'USDT', 'T', 4, 9)`;
  const key = { merchantId: "mer_1", network: "TRX", txid: "bb", logIndex: 0 } as const;
  const duty = { outgoingId: "out_1", number: 1, from: 3 };
  const range = { first: 4, last: 9 };
  const proofs = {
    "the cursor moves": (history: string) =>
      moveCursor(sql, "TRX", "solid", { ...cursor, history }, at(13), 1),
    "blocks count as read": (history: string) => markScanned(sql, "TRX", range, 6, history),
    "blocks count as read with today's contracts": async (history: string) => {
      await markReadWithContracts(sql, "TRX", range, history);
      return (await sql`SELECT FROM hub.scanned_contract WHERE missed_from IS NULL`).length === 1;
    },
    "blocks count as read again": async (history: string) => {
      await storeReread(sql, [duty], 9, history);
      return (await sql`SELECT FROM book.attempt WHERE reread_height = 9`).length === 1;
    },
    "an expired transaction is dead": async (history: string) =>
      (await expireAttempts(sql, "TRX", { ...cursor, history }, 9)).requeued.length === 1,
    "a deposit has vanished": (history: string) =>
      recordVanished(sql, key, { reason: "expired", to: "T" }, history),
  };
  await promote(sql);
  for (const [what, prove] of Object.entries(proofs)) {
    assertEquals(await prove(lost), false, `${what}, by what was read in the lost history`);
    assertEquals(await prove("cluster/2/1/0"), true, `${what}, by what was read in this one`);
  }
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 4, last: 13 }]);
});

test("a transaction is dead by no cursor that is past the one the database has", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const EXPIRY = 1_700_000_000_000;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 1, 'T', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES ('out_1', 1, 'mer_1', 'TRX', 'aa', '{}', ${new Date(EXPIRY)}, ${EXPIRY}, now(), 0)`;
  const cursor = await placeCursor(sql, "TRX", {
    height: 9,
    hash: "9",
    time: EXPIRY - 3_000,
    previousTime: EXPIRY - 6_000,
    tick: EXPIRY - 3_000,
    previousTick: EXPIRY - 6_000,
  });
  // read before a copy of the files was put in its place, which shows nothing of it
  const lost = {
    ...cursor,
    height: 30,
    time: EXPIRY + 60_000,
    previousTime: EXPIRY + 57_000,
    tick: EXPIRY + 60_000,
    previousTick: EXPIRY + 57_000,
  };
  assertEquals((await expireAttempts(sql, "TRX", lost, 9)).requeued, []);
  const late = { ...lost, height: 9 };
  const here = await placeCursor(sql, "TRX", late);
  assertEquals((await expireAttempts(sql, "TRX", { ...here, hash: "another" }, 9)).requeued, []);
  assertEquals((await expireAttempts(sql, "TRX", here, 9)).requeued, ["out_1"]);
});

test("no block counts as read before the addresses are watched that a lost history may have handed out", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const at = (height: number) => ({
    height,
    hash: `h${height}`,
    time: 0,
    previousTime: 0,
    tick: 0,
    previousTick: 0,
  });
  await moveCursor(sql, "TRX", "solid", null, at(9));
  const read = async () => {
    const cursor = await readCursor(sql, "TRX", "solid");
    assert(cursor !== null);
    return cursor;
  };
  const move = (from: Cursor) => moveCursor(sql, "TRX", "solid", from, at(10), 1);
  await sql`UPDATE hub.database_history SET timeline = timeline + 1`;
  assertEquals(await move(await read()), false, "the change is not noted yet");
  await sql`UPDATE hub.database_history SET timeline = timeline - 1`;
  await sql`
    INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_1', 'declared', 'a test', 'test')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_1', 'TRX', 0, 9)`;
  const before = await read();
  assertEquals(await move(before), false, "they are not watched yet");
  await setGapWatched(sql, { failoverId: "fov_1", network: "TRX" });
  assertEquals(await move(before), false, "the block was read before they were");
  assertEquals(await move(await read()), true);
});
