import { assertEquals, assertStringIncludes } from "@std/assert";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openLane } from "./support/test_lane.ts";

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
