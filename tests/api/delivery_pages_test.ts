import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type DeliveryFilter,
  EVENT_STATUSES,
  foldEventCounts,
  listDeliveries,
} from "../../ledger/outbox/deliveries.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const EVENTS = 900;
const START = Date.parse("2026-03-01T00:00:00Z");
const STEP_MS = 1_234_567;
const TYPES = ["deposit.confirmed", "transaction.confirmed"] as const;

test("a page of the delivery log is the same whether counted by buckets or by hand", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const events = Array.from({ length: EVENTS }, (_, i) => {
    const at = START + i * STEP_MS;
    const time = at.toString(16).padStart(12, "0");
    return {
      id: `evt_${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(i).padStart(12, "0")}`,
      // booked later than its id was made, as after a message that waited
      at: at + (i % 5 === 0 ? 900_000 : 0),
      type: TYPES[i % 2] ?? "",
      status: i % 97 === 0 ? "FAILED" : i > EVENTS - 30 ? "PENDING" : "DELIVERED",
    };
  });
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT id, ${merchantId}, id, type, '{}', 'PENDING', at
    FROM unnest(${events.map(({ id }) => id)}::text[], ${events.map(({ type }) => type)}::text[],
      ${
    events.map(({ at }) => new Date(at).toISOString())
  }::text[]::timestamptz[]) e(id, type, at)`;
  for (const status of ["FAILED", "DELIVERED"]) {
    const ids = events.filter((event) => event.status === status).map(({ id }) => id);
    await sql`UPDATE book.outbox SET status = ${status} WHERE id = ANY (${ids}::text[])`;
    if (status === "FAILED") await foldEventCounts(sql);
  }
  const newest = events.toReversed();
  const time = fc.option(
    fc.integer({ min: -3, max: EVENTS + 3 }).map((steps) => START + steps * STEP_MS),
    { nil: undefined },
  );
  const check = fc.asyncProperty(
    fc.record({
      status: fc.constantFrom(undefined, ...EVENT_STATUSES),
      type: fc.constantFrom(undefined, undefined, ...TYPES),
      from: time,
      until: time,
    }),
    fc.integer({ min: 1, max: 50 }),
    fc.constantFrom(1, 7, 100),
    async (filter: DeliveryFilter, page, limit) => {
      const matching = newest.filter((event) =>
        (filter.status === undefined || event.status === filter.status) &&
        (filter.type === undefined || event.type === filter.type) &&
        (filter.from === undefined || event.at >= filter.from) &&
        (filter.until === undefined || event.at < filter.until)
      ).map(({ id }) => id);
      const found = await listDeliveries(sql, merchantId, filter, { page, limit });
      assertEquals(found.total, matching.length);
      assertEquals(
        found.rows.map(({ id }) => id),
        matching.slice((page - 1) * limit, page * limit),
      );
    },
  );
  await fc.assert(check, { numRuns: 80 });
  assertEquals(await countFaults(sql), []);
  // what is pruned is counted no longer
  await sql`DELETE FROM book.outbox WHERE id = ${events[1]?.id ?? ""}`;
  await foldEventCounts(sql);
  assertEquals(await countFaults(sql), []);
  const { total } = await listDeliveries(sql, merchantId, {}, { page: 1, limit: 1 });
  assertEquals(total, EVENTS - 1);
});

/** Kept counts of events that are not those of the events. */
async function countFaults(sql: Sql) {
  const rule = "kept counts of events are those of the events";
  return (await checkBooks(sql)).find((result) => result.rule === rule)?.differences;
}
