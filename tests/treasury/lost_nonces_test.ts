/** The lanes after a database has lost commits: what the signer gave a nonce to is paid with it, and once. @module */

import { assertEquals, assertRejects } from "@std/assert";
import { adoptHand } from "../../actors/treasury/adopt_hand.ts";
import { HistoryHold } from "../../actors/treasury/history_hold.ts";
import { readAgain } from "../../actors/treasury/read_again.ts";
import { restoreLanes } from "../../actors/treasury/restore_lanes.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readOpenHolds, readSigningStop } from "../../ledger/failover/holds.ts";
import { fillGap } from "../../ledger/lanes/restore_nonces.ts";
import { keepToldNonce } from "../../ledger/lanes/told_nonces.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { countingSigner } from "../properties/support/counting_signer.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane, type TestLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);

/** Takes what was committed about nonces away, as a standby lacks it, and opens the hold that follows from that. */
async function loseNonces(sql: Sql, keepsPromises: boolean, ...lost: readonly string[]) {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt WHERE outgoing_id = ANY (${[...lost]}::text[])`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', attempts = 0,
        nonce = CASE WHEN ${keepsPromises}::text::boolean THEN nonce END
      WHERE id = ANY (${[...lost]}::text[])`;
    if (!keepsPromises) {
      await tx`DELETE FROM book.lane_nonce WHERE intents && ${[...lost]}::text[]`;
    }
  });
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_test', 'declared', 'test', 'test')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last, gap_watched)
    VALUES ('fov_test', ${LANE_NETWORK}, 0, 0, true)`;
}

/** A hold that may ask its signer at every poll. */
function holdOf(sql: Sql, lane: TestLane, signer: Signer = lane.signer): HistoryHold {
  let now = 0;
  return new HistoryHold({ sql, chain: lane.chain.port, signer, monotonic: () => now += 60_000 });
}

/** As the hold's own clock, the database's one is a minute later with each poll. */
async function passMinute(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`UPDATE book.lane_nonce SET promised_at = promised_at - interval '1 minute'`;
  });
}

/** The port of a chain whose nodes do not answer. */
function silent(port: Chain): Chain {
  const refuse = () => Promise.reject(new ChainUnavailable("timeout", "no node answers"));
  return new Proxy(port, {
    get: (of, name) => name === "solid" || name === "head" ? refuse : Reflect.get(of, name),
  });
}

/** Two payouts that the lane's own signer has sent and whose nonces are lost, with the bytes that may still land. */
async function lostPayouts(sql: Sql, lane: TestLane): Promise<readonly string[]> {
  for (const id of ["o1", "o2"]) await lane.addPayout(id);
  lane.chain.losesBroadcasts = true;
  assertEquals(await lane.turn(), 2);
  const sent = await sql<{ bytes: string }[]>`SELECT bytes FROM book.attempt ORDER BY nonce`;
  await loseNonces(sql, false, "o1", "o2");
  lane.chain.losesBroadcasts = false;
  return sent.map(({ bytes }) => bytes);
}

/** The payouts that were paid more than once. */
function paidAgain(lane: TestLane): readonly string[] {
  const ids = paid(lane);
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}

/** True while the network's part of a hold goes on. */
async function isHeld(sql: Sql): Promise<boolean> {
  return (await readOpenHolds(sql, LANE_NETWORK)).length > 0;
}

/** Lets the hold work until it is over, as blocks come; fails where it never is. */
async function passHold(sql: Sql, lane: TestLane): Promise<void> {
  const hold = holdOf(sql, lane);
  for (let round = 0; round < 20; round++) {
    await hold.poll();
    await passMinute(sql);
    await lane.settle();
    const solid = await readCursor(sql, LANE_NETWORK, "solid");
    if (solid !== null) {
      await readAgain({ sql, chain: lane.chain.port, stopped: null, wake: () => {} }, solid);
    }
    if (await readSigningStop(sql, LANE_NETWORK) === null) return;
  }
  throw new Error(`The hold is never over: ${await readSigningStop(sql, LANE_NETWORK)}`);
}

/** Ids that solid blocks have paid, in their order. */
function paid({ chain }: TestLane): readonly string[] {
  return chain.solid.flatMap(({ pays }) => pays);
}

for (const keepsPromises of [false, true]) {
  const what = keepsPromises ? "signatures" : "promises and signatures";
  test(`payouts whose ${what} are lost and whose transactions wait are paid once, with the nonces that they had`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    for (const id of ["o1", "o2", "o3"]) await lane.addPayout(id);
    assertEquals(await lane.turn(), 3);
    // the lost ones are asked for in another order than before: o0 is the oldest now
    await lane.addPayout("o0");
    await loseNonces(sql, keepsPromises, "o1", "o2", "o3");
    await passHold(sql, lane);
    await lane.finish();
    assertEquals(await lane.states(), ["o0 final 10", "o1 final 7", "o2 final 8", "o3 final 9"]);
    assertEquals([...paid(lane)].sort(), ["o0", "o1", "o2", "o3"]);
  });

  test(`payouts whose ${what} are lost and that blocks have paid since are paid by those, and nothing is signed anew`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    for (const id of ["o1", "o2"]) await lane.addPayout(id);
    assertEquals(await lane.turn(), 2);
    await loseNonces(sql, keepsPromises, "o1", "o2");
    // the scan reads them as those of another hand
    await lane.settle();
    await passHold(sql, lane);
    await lane.finish();
    assertEquals(await lane.states(), ["o1 final 7", "o2 final 8"]);
    assertEquals([...paid(lane)], ["o1", "o2"]);
    const spends = await sql<{ status: string }[]>`SELECT DISTINCT status FROM hub.unknown_spend`;
    assertEquals(spends.map(({ status }) => status), ["known"]);
  });
}

/** Takes a transfer away that a standby lacks. */
async function loseTransfer(sql: Sql, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.outgoing WHERE id = ${id}`;
  });
}

/** Payouts of a test with their statuses and nonces. */
async function payouts(lane: TestLane): Promise<readonly string[]> {
  return (await lane.states()).filter((state) => /^o\d /.test(state));
}

test("a nonce whose transfer is lost as well is taken out of use, and nothing that waits is paid with it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  for (const id of ["o1", "o2"]) await lane.addPayout(id);
  assertEquals(await lane.turn(), 2);
  await lane.addPayout("o0");
  await loseNonces(sql, false, "o1", "o2");
  await loseTransfer(sql, "o1");
  lane.chain.losesBroadcasts = false;
  await passHold(sql, lane);
  assertEquals(await payouts(lane), ["o0 queued null", "o2 signed 8"]);
  await lane.finish();
  assertEquals(await payouts(lane), ["o0 final 9", "o2 final 8"]);
  assertEquals(lane.chain.solid.map(({ nonce, pays }) => [nonce, ...pays]), [
    [7],
    [8, "o2"],
    [9, "o0"],
  ]);
});

test("two nodes whose signers know nothing of each other give each payout the nonce that either gave it, and pay it once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const other = countingSigner(sql, LANE_NETWORK, {}, "other");
  for (const id of ["o1", "o2"]) await lane.addPayout(id);
  lane.chain.losesBroadcasts = true;
  assertEquals(await lane.turn(), 2);
  await lane.addPayout("o3");
  assertEquals(await lane.turnOfOther(other), 1);
  assertEquals(await lane.states(), ["o1 signed 7", "o2 signed 8", "o3 signed 9"]);
  const [sent] = await sql<
    { bytes: string }[]
  >`SELECT bytes FROM book.attempt WHERE outgoing_id = 'o2'`;
  await lane.addPayout("o4");
  await loseNonces(sql, false, "o1", "o2", "o3");
  await loseTransfer(sql, "o1");
  lane.chain.losesBroadcasts = false;
  // it is in the nodes' pools all the time
  await lane.chain.port.broadcast({ txid: "", bytes: sent?.bytes ?? "", expiresAt: null });
  const holds = [holdOf(sql, lane, other), holdOf(sql, lane)];
  for (let round = 0; round < 10 && await isHeld(sql); round++) {
    for (const hold of holds) await hold.poll();
    await lane.settle();
  }
  assertEquals(await payouts(lane), ["o2 signed 8", "o3 signed 9", "o4 queued null"]);
  for (let round = 0; round < 3; round++) {
    await lane.turnOfOther(other);
    await lane.settle();
  }
  assertEquals(await payouts(lane), ["o2 final 8", "o3 final 9", "o4 final 10"]);
  assertEquals([...paid(lane)].sort(), ["o2", "o3", "o4"]);
});

test("a signer whose node comes back within the time that the operator gives it is waited for, and its payout is paid once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const other = countingSigner(sql, LANE_NETWORK, {}, "other");
  await lane.addPayout("o1");
  lane.chain.losesBroadcasts = true;
  assertEquals(await lane.turnOfOther(other), 1);
  const [sent] = await sql<{ bytes: string }[]>`SELECT bytes FROM book.attempt`;
  await loseNonces(sql, false, "o1");
  lane.chain.losesBroadcasts = false;
  let now = 0;
  const patient = new HistoryHold({
    sql,
    chain: lane.chain.port,
    signer: lane.signer,
    monotonic: () => now += 60_000,
    tellingMs: 30 * 60_000,
  });
  for (let minute = 0; minute < 5; minute++) {
    await patient.poll();
    await passMinute(sql);
    await lane.settle();
  }
  assertEquals(await isHeld(sql), true);
  assertEquals(await payouts(lane), ["o1 queued null"]);
  const holds = [holdOf(sql, lane, other), patient];
  for (let round = 0; round < 40 && await isHeld(sql); round++) {
    for (const hold of holds) await hold.poll();
    await passMinute(sql);
    await lane.settle();
  }
  // it was in a pool of the chain all the time
  await lane.chain.port.broadcast({ txid: "", bytes: sent?.bytes ?? "", expiresAt: null });
  for (let round = 0; round < 3; round++) {
    await lane.turn();
    await lane.settle();
  }
  assertEquals(await payouts(lane), ["o1 final 7"]);
  assertEquals(paid(lane), ["o1"]);
});

test("a payout that another machine's clock made later than the failover keeps the nonce that the signer gave it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await sql`UPDATE book.outgoing SET created_at = now() + interval '5 minutes'`;
  await loseNonces(sql, false, "o1");
  await passHold(sql, lane);
  assertEquals(await lane.states(), ["o1 signed 7"]);
});

test("a hold does not end before the signer has told what it signed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await loseNonces(sql, false, "o1");
  const away = {
    sign: lane.signer.sign,
    live: () => Promise.reject(new SignerUnavailable("away")),
  };
  const hold = holdOf(sql, lane, away);
  for (let round = 0; round < 3; round++) {
    await hold.poll();
    await lane.settle();
  }
  assertEquals(await readSigningStop(sql, LANE_NETWORK) === null, false);
  await passHold(sql, lane);
  await lane.finish();
  assertEquals(await lane.states(), ["o1 final 7"]);
});

test("a hold does not end while another transaction holds a payout that the signer gave a nonce to", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await loseNonces(sql, false, "o1");
  const hold = holdOf(sql, lane);
  await sql.begin(async (tx) => {
    await tx`SELECT FROM book.outgoing WHERE id = 'o1' FOR UPDATE`;
    for (let round = 0; round < 4; round++) {
      await hold.poll();
      await lane.settle();
    }
  });
  assertEquals([await isHeld(sql), await lane.states()], [true, ["o1 queued null"]]);
  await passHold(sql, lane);
  assertEquals(await lane.states(), ["o1 signed 7"]);
  lane.chain.losesBroadcasts = false;
  await lane.finish();
  assertEquals([await lane.states(), paid(lane)], [["o1 final 7"], ["o1"]]);
});

test("what the signer gave a nonce after an earlier one had ended gets it again once that end is read again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  lane.chain.strange("0xother");
  await lane.settle();
  const adopt = async (id: string) => {
    const audit = { id, merchantId: null, actor: "ana", action: "treasury.adopt", subject: "x" };
    return (await adoptHand(
      { sql, chain: lane.chain.port, stopped: null, mayStillAsk },
      LANE_NETWORK,
      { txid: "0xother", nonce: 7, reason: "ours" },
      { ...audit, before: null, after: null, requestId: "req_1" },
      5_000,
    )).kind;
  };
  assertEquals(await adopt("aud_1"), "adopted");
  lane.chain.losesBroadcasts = true;
  assertEquals(await lane.turn(), 1);
  assertEquals(await lane.states(), ["o1 signed 8"]);
  // the standby lacks the adoption and what was signed after it
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt WHERE nonce = 8`;
    await tx`DELETE FROM book.lane_nonce WHERE nonce = 8`;
    await tx`
      UPDATE book.lane_nonce SET used_by = NULL, height = NULL, foreign_hand = false, foreign_bytes = NULL WHERE nonce = 7`;
    await tx`UPDATE book.attempt SET outcome = NULL, evidence = NULL, height = NULL WHERE nonce = 7`;
    await tx`UPDATE book.outgoing SET nonce = 7, attempts = 1 WHERE id = 'o1'`;
    await tx`UPDATE hub.unknown_spend SET status = 'open', decided_at = NULL, actor = NULL, reason = NULL`;
  });
  await loseNonces(sql, true);
  const hold = holdOf(sql, lane);
  for (let round = 0; round < 4; round++) {
    await hold.poll();
    await lane.settle();
  }
  assertEquals([await isHeld(sql), await lane.states()], [true, ["o1 signed 7"]]);
  assertEquals(await adopt("aud_2"), "adopted");
  await passHold(sql, lane);
  assertEquals(await lane.states(), ["o1 signed 8"]);
  lane.chain.losesBroadcasts = false;
  await lane.finish();
  assertEquals([await lane.states(), paid(lane)], [["o1 final 8"], ["o1"]]);
});

test("a payout whose transactions the database refuses keeps the nonce that the signer gave it, and is signed with it again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await lane.addPayout("o0");
  await loseNonces(sql, false, "o1");
  await sql.unsafe(`
    CREATE FUNCTION book.refuse_in_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused by a rule' USING ERRCODE = 'check_violation'; END $$;
    CREATE TRIGGER refuse_in_test BEFORE INSERT ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.refuse_in_test()`);
  await passHold(sql, lane);
  assertEquals(await lane.states(), ["o0 queued null", "o1 queued 7"]);
  await sql.unsafe("DROP TRIGGER refuse_in_test ON book.attempt");
  lane.chain.losesBroadcasts = false;
  await lane.finish();
  assertEquals(await lane.states(), ["o0 final 8", "o1 final 7"]);
  assertEquals([...paid(lane)].sort(), ["o0", "o1"]);
});

test("a node whose chain nodes are silent tells of what its signer gave nonces to, and each is paid once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const other = countingSigner(sql, LANE_NETWORK, {}, "A");
  const sent = await lostPayouts(sql, lane);
  await lane.addPayout("o0");
  const holds = [
    new HistoryHold({ sql, chain: silent(lane.chain.port), signer: lane.signer }),
    holdOf(sql, lane, other),
  ];
  for (let round = 0; round < 20 && await isHeld(sql); round++) {
    for (const hold of holds) await hold.poll();
    await passMinute(sql);
    await lane.settle();
  }
  assertEquals(await lane.states(), ["o0 queued null", "o1 signed 7", "o2 signed 8"]);
  for (const bytes of sent) await lane.chain.port.broadcast({ txid: "", bytes, expiresAt: null });
  await lane.turnOfOther(other);
  await lane.finish();
  assertEquals([paidAgain(lane), [...paid(lane)].sort()], [[], ["o0", "o1", "o2"]]);
});

test("what a signer tells of after its nonce was promised to others gets no other one until a block has taken that", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const other = countingSigner(sql, LANE_NETWORK, {}, "A");
  await lostPayouts(sql, lane);
  const deps = { sql, chain: lane.chain.port };
  for (const id of ["out_a", "out_b"]) assertEquals(await fillGap(sql, LANE_NETWORK, id, 9), true);
  assertEquals(await fillGap(sql, LANE_NETWORK, "out_c", 9), false, "only what is below is filled");
  await restoreLanes({ ...deps, signer: lane.signer, fillsGaps: false });
  await restoreLanes({ ...deps, signer: other, fillsGaps: true });
  const promised = (nonce: number) =>
    sql`INSERT INTO book.lane_nonce (network, payer, nonce, intents)
      VALUES (${LANE_NETWORK}, 'hot', ${nonce}, ${["o2"]}::text[])`;
  await assertRejects(() => promised(9), Error, "may still be paid with one that a signer gave it");
});

test("a payout whose nonce a signer has told of is not given back before its transactions are added", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lostPayouts(sql, lane);
  await keepToldNonce(sql, LANE_NETWORK, { payer: "hot", nonce: 7, intents: ["o1"] });
  const mute = { live: () => Promise.resolve([]) };
  await restoreLanes({ sql, chain: lane.chain.port, signer: mute, fillsGaps: false });
  assertEquals(await lane.states(), ["o1 queued 7", "o2 queued null"]);
  await assertRejects(
    () => sql`UPDATE book.outgoing SET status = 'void' WHERE id = 'o1'`,
    Error,
    "may still pay it",
  );
});
