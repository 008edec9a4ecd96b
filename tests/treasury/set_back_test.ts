import { assertEquals, assertMatch } from "@std/assert";
import { chainReasons } from "../../app/health/chains.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { countingSigner } from "../properties/support/counting_signer.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("a database that is set back to a copy of its files signs nothing before its scan has read what was paid since", async () => {
  await using rig = await openTreasuryRig({ remembers: false });
  const { sql, engine } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xbeef);
  const [copy] = await sql`
    SELECT *, coalesce((SELECT batches FROM book.signing_turn WHERE network = 'TRX'), 0) AS batches
    FROM hub.cursor WHERE network = 'TRX' AND view = 'solid'`;
  // an hour and more of blocks in which nothing is paid
  await rig.mine(1_500, 3_000);
  const paid = await rig.withdraw(key, "500", receiver);
  await rig.mineUntil("it is paid", async () => (await rig.payout(paid)).status === "final");
  // its bytes expire
  await rig.mine(20, 3_000);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`DELETE FROM book.inbox WHERE phase = 'outcome'`;
    await tx`UPDATE book.outgoing SET status = 'queued', attempts = 0, reason = NULL, lease_until = NULL`;
    // by these a poll of the treasury knows it that comes before the scan's next one
    await tx`UPDATE book.signing_turn SET batches = ${copy?.["batches"]} WHERE network = 'TRX'`;
    await tx`
      UPDATE hub.cursor SET height = ${copy?.["height"]}, hash = ${copy?.["hash"]}, time = ${
      copy?.["time"]
    }, tick = ${copy?.["tick"]}, previous_time = ${copy?.["previous_time"]}, previous_tick = ${
      copy?.["previous_tick"]
    } WHERE network = 'TRX' AND view = 'solid'`;
  });
  const told = new Set<string>();
  await until(async () => {
    for (const one of chainReasons(engine, "TRX", Date.now())) told.add(one.replace(/\d+/g, "N"));
    assertEquals((await rig.payout(paid)).outcomes, []);
    return await readSigningStop(sql, "TRX") !== null;
  });
  for (let round = 0; round < 5; round++) await rig.mine(1);
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /do not know/);
  assertEquals((await rig.payout(paid)).status, "queued");
  assertEquals(await rig.chain.balanceOf(receiver, "USDT"), amount("500"), "once");
  assertEquals(told.has("TRX signs nothing before block N is read, N are left"), true);
});

test("a lane gives no room by nonces that the chain has used and the books have never promised, before the scan has met them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.turn();
  const [copy] = await sql`
    SELECT * FROM hub.cursor WHERE network = ${LANE_NETWORK} AND view = 'solid'`;
  const id = (n: number) => `o${String(n).padStart(2, "0")}`;
  for (let n = 1; n <= 10; n++) await lane.addPayout(id(n));
  await lane.finish();
  // a copy of the machine's files, the signer's memory among them
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`DELETE FROM book.lane_nonce`;
    await tx`DELETE FROM book.inbox`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', nonce = NULL, attempts = 0, reason = NULL, lease_until = NULL`;
    await tx`
      UPDATE hub.cursor SET height = ${copy?.["height"]}, hash = ${copy?.["hash"]}, time = ${
      copy?.["time"]
    } WHERE network = ${LANE_NETWORK} AND view = 'solid'`;
  });
  for (let n = 11; n <= 20; n++) await lane.addPayout(id(n));
  // one that is tried after the others, as a node did not answer for it
  await sql`UPDATE book.outgoing SET lease_until = now() + interval '1 hour' WHERE id = 'o01'`;
  const own = countingSigner(sql, LANE_NETWORK, {}, "restored");
  const signed = [];
  for (let turn = 0; turn < 5; turn++) {
    signed.push(await lane.turnOfOther(own));
    lane.chain.mine();
    if (turn === 2) await sql`UPDATE book.outgoing SET lease_until = NULL WHERE id = 'o01'`;
  }
  assertEquals(signed, [6, 0, 0, 0, 0]);
  await lane.scan();
  await lane.prove();
  assertMatch(await readSigningStop(sql, LANE_NETWORK) ?? "", /do not know/);
  for (let n = 0; n < 5; n++) lane.chain.mine();
  const payments = lane.chain.solid.flatMap(({ pays }) => pays);
  assertEquals(payments.length, new Set(payments).size, "none is paid twice");
});
