import { assertEquals, assertRejects } from "@std/assert";
import { emptierOf } from "../soak/lane_database.ts";
import { withDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { liveLane } from "./support/lane_world.ts";

const test = testNeeding(DATABASE);

test("a life in a database that others have lived in is the one of a new database", async () => {
  await withDatabase(async ({ sql }) => {
    const empty = await emptierOf(sql);
    const alone = await liveLane(sql, 1, null);
    await empty();
    await liveLane(sql, 2, null);
    await empty();
    const [left] = await sql`
      SELECT (SELECT count(*)::int FROM book.outgoing) + (SELECT count(*)::int FROM book.attempt) +
        (SELECT count(*)::int FROM book.lane_nonce) + (SELECT count(*)::int FROM hub.cursor) AS rows`;
    assertEquals(left?.["rows"], 0);
    assertEquals(await liveLane(sql, 1, null), alone);
  });
});

test("what migrations wrote stays, or the next life is refused", async () => {
  await withDatabase(async ({ sql }) => {
    const empty = await emptierOf(sql);
    await empty();
    await sql`UPDATE book.pair SET deposits_enabled = NOT deposits_enabled`;
    await assertRejects(empty, Error, "has changed what migrations wrote");
  });
});
