import { assertEquals } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);

test("a batch over the day's cap of its token has nonces for those that are within it, and smaller payouts go on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql, { [`USDT/${LANE_NETWORK}`]: { perDay: amountOf("12") } });
  for (const id of ["o1", "o2", "o3", "o4"]) await lane.addPayout(id);
  assertEquals(await lane.turn(), 2);
  const nonces = (await lane.states()).map((line) => line.split(" "));
  assertEquals(nonces.map(([, status]) => status), ["signed", "signed", "queued", "queued"]);
  assertEquals(nonces.map(([, , nonce]) => nonce === "null"), [false, false, true, true]);
  await lane.settle();
  await lane.addPayout("o5", "1");
  assertEquals(await lane.turn(), 1);
  await lane.settle();
  assertEquals((await lane.states()).map((line) => line.split(" ")[1]), [
    "final",
    "final",
    "queued",
    "queued",
    "final",
  ]);
  const paid = lane.chain.solid.map(({ pays }) => pays.join());
  assertEquals(paid, ["o1", "o2", "o5"], "nothing was burned");
});

test("a lane goes on where the day's caps of its token and of its coin are reached", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql, {
    [`USDT/${LANE_NETWORK}`]: { perDay: amountOf("12") },
    [`native/${LANE_NETWORK}`]: { perDay: amountOf("1") },
  });
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  // its merchant takes it back between promise and signature: its nonce has to be filled for the one behind it
  await lane.settle();
  await lane.addPayout("o2");
  await lane.promise("o2");
  await sql`UPDATE book.outgoing SET status = 'void', reason = 'refunded' WHERE id = 'o2'`;
  await lane.addPayout("o3");
  await lane.turn();
  await lane.settle();
  await lane.settle();
  assertEquals((await lane.states()).map((line) => line.split(" ").slice(0, 2).join(" ")), [
    "o1 final",
    "o2 void",
    "o3 final",
  ]);
  assertEquals(lane.chain.solid.map(({ pays }) => pays.join()), ["o1", "", "o3"]);
});
