import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { commitAttempts, type LaneSignature } from "../../ledger/lanes/commit_attempts.ts";
import { takeTurn } from "../../ledger/lanes/take_turn.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testDatabase } from "../support/database.ts";
import { until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);
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

test("no payment is committed with a nonce that was taken out of use while its commit waited for the turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.losesBroadcasts = true;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  const turn = await takeTurn(sql, LANE_NETWORK, "node", 60_000);
  if (turn === null) throw new Error("Cannot go on as the turn was not got");
  const [row] = await sql<{ merchantId: string; nonce: number }[]>`
    SELECT merchant_id AS "merchantId", nonce::int FROM book.outgoing WHERE id = 'o1'`;
  if (row === undefined) throw new Error("Cannot go on as the transfer is not there");
  const dearer: LaneSignature = {
    outgoingId: "o1",
    merchantId: row.merchantId,
    txid: "dearer",
    bytes: "{}",
    nonce: row.nonce,
    purpose: "pay",
    feeLimit: amountOf("1"),
  };
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const other = sql.begin(async (tx) => {
    await tx`SELECT FROM book.signing_turn WHERE network = ${LANE_NETWORK} FOR UPDATE`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const refused = assertRejects(
    () => commitAttempts(sql, [dearer], turn),
    Error,
    "taken out of use",
  );
  await until(async () => {
    const waiting = await sql`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    return waiting.length > 0;
  });
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  release.resolve();
  await other;
  await refused;
  const attempts = async () =>
    (await sql<{ txid: string }[]>`SELECT txid FROM book.attempt`).map(({ txid }) => txid);
  assertEquals((await attempts()).length, 1);
  assertNotEquals(await attempts(), ["dearer"]);
  // alone, it is passed over: nothing of it is committed
  assertEquals(await commitAttempts(sql, [dearer], turn), new Set());
  assertEquals((await attempts()).length, 1);
});
