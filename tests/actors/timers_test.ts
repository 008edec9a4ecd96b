import { assertEquals } from "@std/assert";
import { Timers } from "../../actors/runtime/timers.ts";
import { until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("timers that no actor handles keep no younger ones waiting, and come again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  // more than one look takes, all older than the one that matters
  await sql`
    INSERT INTO hub.timer (actor, name, due_at)
    SELECT 'payment/' || lpad(n::text, 6, '0'), 'expiry', now() - interval '1 hour'
    FROM generate_series(1, 10001) n`;
  const seen = new Map<string, number>();
  const timers = new Timers(
    sql,
    ({ address }) => seen.set(address.id, (seen.get(address.id) ?? 0) + 1),
  );
  await timers.set({ kind: "payment", id: "young" }, "expiry", Date.now() - 1_000);
  await timers.set({ kind: "payment", id: "not due" }, "expiry", Date.now() + 3_600_000);
  timers.start(10);
  await until(() => seen.has("young"));
  await until(() => (seen.get("000001") ?? 0) > 1);
  await timers.stop();
  assertEquals([seen.size, seen.has("not due")], [10_002, false]);
});
