/**
 * Payments that a database has lost, and whose nonce an administrator has asked to take out of use since: they may be in a
 * block, so that they are looked for, and they are never sent.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { adoptHand } from "../../actors/treasury/adopt_hand.ts";
import { HistoryHold } from "../../actors/treasury/history_hold.ts";
import { readAgain } from "../../actors/treasury/read_again.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readOpenHolds, readSigningStop } from "../../ledger/failover/holds.ts";
import { listUndecided } from "../../ledger/failover/unknown_spends.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { subtract, ZERO } from "../../ledger/money/amount.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane, type TestLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);
const AUDIT = {
  id: "aud_1",
  merchantId: null,
  actor: "ana",
  action: "treasury.cancel",
  subject: "o1",
  before: null,
  after: null,
  requestId: "req_1",
};

/** A payout with a transaction and its replacement, neither of them in a block. @returns the replacement's bytes */
async function replaced(sql: Sql, lane: TestLane): Promise<string> {
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await lane.turn();
  const signed = await sql<{ txid: string; bytes: string }[]>`
    SELECT txid, bytes FROM book.attempt ORDER BY number`;
  assertEquals(signed.map(({ txid }) => txid), ["ETH-1", "ETH-2"]);
  return signed[1]?.bytes ?? "";
}

/** Takes the replacement away, as a standby lacks it. */
async function loseReplacement(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt WHERE txid = 'ETH-2'`;
    await tx`UPDATE book.outgoing SET attempts = 1 WHERE id = 'o1'`;
  });
}

async function openHold(sql: Sql): Promise<void> {
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_test', 'declared', 'test', 'test')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last, gap_watched)
    VALUES ('fov_test', ${LANE_NETWORK}, 0, 0, true)`;
}

/** Lets the hold work until it is over, as blocks come. */
async function passHold(sql: Sql, lane: TestLane, hold: HistoryHold): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await lane.settle();
    await hold.poll();
    const solid = await readCursor(sql, LANE_NETWORK, "solid");
    if (solid !== null) {
      await readAgain({ sql, chain: lane.chain.port, stopped: null, wake: () => {} }, solid);
    }
    await sql.begin(async (tx) => {
      await tx`SET LOCAL session_replication_role = replica`;
      await tx`UPDATE book.lane_nonce SET promised_at = promised_at - interval '1 minute'`;
    });
    if ((await readOpenHolds(sql, LANE_NETWORK)).length === 0) return;
  }
  throw new Error("The hold is never over");
}

function holdOf(sql: Sql, lane: TestLane): HistoryHold {
  let now = 0;
  const { signer, chain } = lane;
  return new HistoryHold({ sql, chain: chain.port, signer, monotonic: () => now += 60_000 });
}

async function known(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ one: string }[]>`
    SELECT concat_ws(' ', txid, purpose, CASE WHEN adopted THEN 'adopted' END) AS one FROM book.attempt
    ORDER BY number`;
  return rows.map(({ one }) => one);
}

test("a lost replacement is known again although its nonce was to be taken out of use meanwhile, and its payout ends by its block", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const bytes = await replaced(sql, lane);
  await loseReplacement(sql);
  await openHold(sql);
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  const hold = holdOf(sql, lane);
  await hold.poll();
  assertEquals(await known(sql), ["ETH-1 pay", "ETH-2 pay adopted"]);
  lane.chain.losesBroadcasts = false;
  await lane.chain.port.broadcast({ txid: "", bytes, expiresAt: null });
  await passHold(sql, lane, hold);
  assertEquals(await lane.states(), ["o1 final 7"]);
  assertEquals(await readSigningStop(sql, LANE_NETWORK), null);
  assertEquals(await listUndecided(sql), []);
});

test("what is known again of a nonce out of use is never sent: its cancel is dearer than it, and takes its place", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await replaced(sql, lane);
  await loseReplacement(sql);
  await openHold(sql);
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  lane.chain.losesBroadcasts = false;
  const hold = holdOf(sql, lane);
  await hold.poll();
  await passHold(sql, lane, hold);
  await lane.turn();
  assertEquals(await known(sql), ["ETH-1 pay", "ETH-2 pay adopted", "ETH-3 cancel"]);
  await lane.settle();
  assertEquals(lane.chain.solid.map(({ txid, pays }) => [txid, pays]), [["ETH-3", []]]);
  assertEquals(await lane.states(), ["o1 dead null"]);
});

test("a lost transaction that the database refuses keeps no other of its nonce from being known again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await replaced(sql, lane);
  await loseReplacement(sql);
  await openHold(sql);
  const { signer, chain } = lane;
  let now = 0;
  const live = async (ids: readonly string[]) => {
    const told = await signer.live?.(ids) ?? [];
    const odd = told.slice(0, 1).map((one) => {
      const bytes = JSON.stringify({ ...JSON.parse(one.signed.bytes), txid: "odd" });
      return { ...one, signed: { ...one.signed, txid: "odd", bytes } };
    });
    return [...odd, ...told];
  };
  const { port } = chain;
  // what it may cost is less than nothing
  const termsOf: typeof port.termsOf = (bytes, near) => ({
    ...port.termsOf(bytes, near),
    ...(bytes.includes("odd") ? { feeLimit: subtract(ZERO, amount("1")) } : {}),
  });
  const hold = new HistoryHold({
    sql,
    chain: { ...port, termsOf },
    signer: { ...signer, live },
    monotonic: () => now += 60_000,
  });
  await hold.poll();
  assertEquals(await known(sql), ["ETH-1 pay", "ETH-2 pay"]);
});

test("without an open hold no payment of a nonce out of use is kept, also none that is said to be of an earlier history", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await replaced(sql, lane);
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  const keep = (txid: string, adopted: boolean) =>
    sql`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, nonce, purpose, place, intents,
        created_at, fee_limit, adopted)
      SELECT outgoing_id, number + 2, merchant_id, network, ${txid}, bytes, nonce, 'pay', 0, 1, now(), 1, ${adopted}
      FROM book.attempt WHERE number = 1`;
  await assertRejects(() => keep("other", true), Error, "taken out of use");
  await openHold(sql);
  await assertRejects(() => keep("other", false), Error, "taken out of use");
  await keep("other", true);
});

test("a payout whose adopted transaction has paid it is not given back, although it was to be taken out of use", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const bytes = await replaced(sql, lane);
  await loseReplacement(sql);
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  lane.chain.losesBroadcasts = false;
  await lane.chain.port.broadcast({ txid: "", bytes, expiresAt: null });
  await lane.settle();
  assertEquals(await lane.states(), ["o1 signed 7"]);
  // as if the scan's node had left the transfer out
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM hub.unknown_spend WHERE log_index >= 0`;
    await tx`
      INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
        markup_rate, markup_amount, network_fee, destination, status, created_at)
      SELECT payment_id, merchant_id, 1, 1, id, currency, network, amount, 0, 0, 0, 0, ${`0x${
      "1".repeat(40)
    }`}, 'PENDING', now()
      FROM book.outgoing`;
  });
  const adopted = await adoptHand(
    { sql, chain: lane.chain.port, stopped: null, mayStillAsk },
    LANE_NETWORK,
    { txid: "ETH-2", nonce: 7, reason: "ours" },
    { ...AUDIT, id: "aud_2" },
    5_000,
  );
  assertEquals(adopted, { kind: "adopted", nonce: 7, notified: [] });
  assertEquals(await lane.states(), ["o1 queued null"]);
  assertEquals((await sql`SELECT FROM book.inbox WHERE phase = 'outcome'`).count, 0);
  assertEquals(await lane.turn(), 0, "its transfer stops signing until it is matched");
  const listed = await listUndecided(sql);
  assertEquals(listed.map(({ txid, logIndex, status }) => `${txid}/${logIndex} ${status}`), [
    "ETH-2/0 open",
  ]);
  const refund = () =>
    sql`UPDATE book.withdrawal SET status = 'FAILED', processed_at = now() WHERE id = 'wd_o1'`;
  await assertRejects(refund, Error, "what has used its nonce has paid it");
  await sql`
    UPDATE hub.unknown_spend SET status = 'written_off', decided_at = now(), actor = 'ana', reason = 'paid another'
    WHERE log_index = 0`;
  await refund();
});
