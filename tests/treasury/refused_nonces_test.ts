import { assertEquals, assertStringIncludes } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);

test("a payout that the signer knows to have another nonce is promised no new one", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  await lane.addPayout("o2");
  assertEquals(await lane.turn(), 2);
  await sql.begin(async (tx) => {
    // the database has lost what it knew of the first one
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt WHERE outgoing_id = 'o1'`;
    await tx`UPDATE book.outgoing SET status = 'queued', attempts = 0, nonce = NULL WHERE id = 'o1'`;
    await tx`DELETE FROM book.lane_nonce WHERE 'o1' = ANY (intents)`;
  });
  assertEquals(await lane.turn(), 0);
  assertEquals((await lane.states())[0], "o1 queued null");
  const [row] = await sql<{ reason: string }[]>`SELECT reason FROM book.outgoing WHERE id = 'o1'`;
  assertStringIncludes(row?.reason ?? "", "wrong-nonce");
});

test("where refused nonces take up a lane, its one place is not kept for an own transfer that cannot leave", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql, { [`USDT/${LANE_NETWORK}`]: { perDay: amountOf("3") } });
  await lane.turn();
  for (const id of ["o1", "o2", "o3", "o4", "o5", "o6"]) {
    await lane.addPayout(id);
    await lane.promise(id);
  }
  // of a token that its issuer has paused
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('own', 'mer_platform', 'cold', ${LANE_NETWORK}, 'USDC', 5, 'cold-wallet', 'queued', now(), now())`;
  for (let turn = 0; turn < 3; turn++) {
    await lane.turn();
    await lane.settle();
  }
  await lane.turn();
  assertEquals([lane.lanes.room("hot"), lane.lanes.roomFor("merchants")], [1, 1]);
});

test("a lane of nothing but refused nonces burns no coin while nothing new comes, and goes on once something does", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql, { [`USDT/${LANE_NETWORK}`]: { perDay: amountOf("3") } });
  // the lane is opened by it
  await lane.turn();
  const refused = ["o1", "o2", "o3", "o4", "o5", "o6"];
  for (const id of refused) {
    await lane.addPayout(id);
    await lane.promise(id);
  }
  for (let turn = 0; turn < 3; turn++) {
    await lane.turn();
    await lane.settle();
  }
  const attempts = await sql`SELECT FROM book.attempt`;
  assertEquals([attempts.count, lane.lanes.room("hot")], [0, 1]);
  await lane.addPayout("o7", "1");
  assertEquals(await lane.turn(), 1);
  for (let turn = 0; turn < 2; turn++) {
    await lane.turn();
    await lane.settle();
  }
  assertEquals(
    await lane.states(),
    [...refused.map((id) => `${id} queued null`), "o7 final 13"],
  );
  assertEquals(lane.chain.solid.map(({ pays }) => pays.join()), ["", "", "", "", "", "", "o7"]);
});
