import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import type { AttemptMark, AttemptResult } from "../../ledger/outbox/attempts.ts";
import { redeliverEvent } from "../../ledger/outbox/deliveries.ts";
import { type ClaimedEvent, createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const WEBHOOK = { webhookUrl: "https://shop.example/" };
const RETRY: AttemptResult = { kind: "retry", delayMs: 29_000 };
const DELIVERED: AttemptResult = { kind: "delivered" };

function markOf(event: ClaimedEvent, result: AttemptResult): AttemptMark {
  const { eventId, merchantId, attempt, url } = event;
  const outcome = result.kind === "delivered" ? "acknowledged" : "timeout";
  const rest = { httpStatus: null, durationMs: 1, answer: null };
  return { eventId, merchantId, attempt, url, result, outcome, ...rest };
}

/** A merchant's deliveries, with what a test does to them. */
async function openMerchant(sql: Sql) {
  const merchantId = await addMerchant(sql, WEBHOOK);
  const outbox = createOutbox(sql);
  const claim = async (room = 8) => await outbox.claim([{ merchantId, room }]);
  return {
    merchantId,
    add: async (paymentId?: string) => {
      const id = await addEvent(sql, merchantId, paymentId === undefined ? {} : { paymentId });
      // as the journal writes it
      await sql`UPDATE book.outbox SET next_attempt_at = created_at WHERE id = ${id}`;
      return id;
    },
    claim,
    claimedIds: async (room?: number) =>
      (await claim(room)).map(({ eventId }) => eventId).toSorted(),
    mark: (events: readonly ClaimedEvent[], result: AttemptResult) =>
      outbox.mark(events.map((event) => markOf(event, result))),
    /** Takes time off what waits for a retry, and what is under a lease. */
    pass: async (seconds: number) => {
      await sql`
        UPDATE book.outbox SET claimed_until = claimed_until - make_interval(secs => ${seconds}),
          next_attempt_at = CASE WHEN next_attempt_at > now()
            THEN next_attempt_at - make_interval(secs => ${seconds}) ELSE next_attempt_at END
        WHERE status = 'PENDING'`;
    },
  };
}

/** An event that waits for its retry, and one of the same payment behind it. */
async function openWaiting(sql: Sql) {
  const merchant = await openMerchant(sql);
  const first = await merchant.add("dep_1");
  const second = await merchant.add("dep_1");
  const attempt = await merchant.claim();
  assertEquals(attempt.map(({ eventId }) => eventId), [first]);
  return { ...merchant, first, second, attempt };
}

test("of new events and retries that are due the oldest are claimed first", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchant = await openMerchant(sql);
  const ids = [];
  for (let i = 0; i < 6; i++) ids.push(await merchant.add());
  const [a, b, c, d, e, f] = ids.toSorted();
  const attempts = await merchant.claim(4);
  // the oldest of them is due last
  for (const [i, event] of attempts.toSorted((x, y) => x.eventId < y.eventId ? 1 : -1).entries()) {
    await merchant.mark([event], { kind: "retry", delayMs: 10_000 + i });
  }
  assertEquals(await merchant.claimedIds(1), [e]);
  await merchant.pass(11);
  assertEquals(await merchant.claimedIds(3), [a, b, c]);
  assertEquals(await merchant.claimedIds(3), [d, f]);
});

test("an event behind one that waits for its retry is claimed as soon as that one is acknowledged", async () => {
  await using database = await testDatabase();
  const { claim, claimedIds, mark, pass, first, second, attempt } = await openWaiting(database.sql);
  await mark(attempt, RETRY);
  assertEquals(await claimedIds(), []);
  await pass(30);
  const retry = await claim();
  assertEquals(retry.map(({ eventId }) => eventId), [first]);
  assertEquals(await claimedIds(), []);
  await mark(retry, DELIVERED);
  assertEquals(await claimedIds(), [second]);
});

test("an event that was released without an attempt is due at once, and so is the one behind it", async () => {
  await using database = await testDatabase();
  const { claim, claimedIds, mark, first, second, attempt } = await openWaiting(database.sql);
  await mark(attempt, { kind: "released", delayMs: 29_000 });
  const again = await claim();
  assertEquals(again.map(({ eventId }) => eventId), [first]);
  await mark(again, DELIVERED);
  assertEquals(await claimedIds(), [second]);
});

test("a redelivery of an event that waits brings forward what is behind it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { merchantId, claim, claimedIds, mark, first, second, attempt } = await openWaiting(sql);
  await mark(attempt, RETRY);
  assertEquals(await redeliverEvent(sql, merchantId, first), true);
  const again = await claim();
  assertEquals(again.map(({ eventId }) => eventId), [first]);
  await mark(again, DELIVERED);
  assertEquals(await claimedIds(), [second]);
});

/** Two events of a payment that were acknowledged and are both sent again; the first waits for its retry. */
async function openSentAgain(sql: Sql) {
  const merchant = await openMerchant(sql);
  const ids = [await merchant.add("dep_1"), await merchant.add("dep_1")];
  for (const _ of ids) await merchant.mark(await merchant.claim(), DELIVERED);
  for (const id of ids) assertEquals(await redeliverEvent(sql, merchant.merchantId, id), true);
  const [first, second] = ids;
  const attempt = await merchant.claim();
  assertEquals(attempt.map(({ eventId }) => eventId), [first]);
  await merchant.mark(attempt, RETRY);
  assertEquals(await merchant.claimedIds(), []);
  return { ...merchant, first: String(first), second, attempt };
}

test("an event that is sent again behind one that waits is claimed once that one is sent again and acknowledged", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { merchantId, claim, claimedIds, mark, first, second } = await openSentAgain(sql);
  assertEquals(await redeliverEvent(sql, merchantId, first), true);
  await mark(await claim(), DELIVERED);
  assertEquals(await claimedIds(), [second]);
});

test("an event that is sent again is claimed as soon as the one before it is acknowledged late", async () => {
  await using database = await testDatabase();
  const { claim, claimedIds, mark, pass, second } = await openSentAgain(database.sql);
  await pass(30);
  const late = await claim();
  // the lease runs out, and a second attempt fails before the first one is acknowledged
  await pass(60);
  await mark(await claim(), RETRY);
  await mark(late, DELIVERED);
  assertEquals(await claimedIds(), [second]);
});

test("a retry of the event before it makes none wait less than for its own retry", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { merchantId, claim, claimedIds, mark, pass, first, second } = await openSentAgain(sql);
  await pass(30);
  await mark(await claim(), DELIVERED);
  await mark(await claim(), RETRY);
  assertEquals(await redeliverEvent(sql, merchantId, first), true);
  await sql`UPDATE book.outbox SET next_attempt_at = now() + interval '29 seconds' WHERE id = ${
    String(second)
  }`;
  await mark(await claim(), { kind: "retry", delayMs: 1_000 });
  await pass(2);
  await mark(await claim(), DELIVERED);
  assertEquals(await claimedIds(), []);
  await pass(30);
  assertEquals(await claimedIds(), [second]);
});

for (const end of [DELIVERED, { kind: "retry", delayMs: 1_000 }] as const) {
  test(`the end of an attempt counts, ${end.kind}, where it is written with a retry of an event before it that was sent again`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const merchant = await openMerchant(sql);
    const first = await merchant.add("dep_1");
    const second = await merchant.add("dep_1");
    await merchant.mark(await merchant.claim(), DELIVERED);
    const [under] = await merchant.claim();
    assertEquals(await redeliverEvent(sql, merchant.merchantId, first), true);
    const [again] = await merchant.claim();
    if (under === undefined || again === undefined) throw new Error("Cannot go on without both");
    await createOutbox(sql).mark([markOf(again, RETRY), markOf(under, end)]);
    const [row] = await sql`
      SELECT status, claimed_until, next_attempt_at > now() + interval '10 seconds' AS is_late
      FROM book.outbox WHERE id = ${second}`;
    const status = end.kind === "delivered" ? "DELIVERED" : "PENDING";
    assertEquals({ ...row }, { status, claimed_until: null, is_late: false });
  });
}

for (const isForgiven of [false, true]) {
  const known = isForgiven ? "acknowledges again" : "fails";
  test(`a late acknowledgement of an event that waits frees what is behind it, where its endpoint ${known}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const { claim, claimedIds, mark, pass, second, attempt } = await openWaiting(sql);
    // the lease runs out, and a second attempt fails before the first one is acknowledged
    await pass(60);
    await mark(await claim(), RETRY);
    if (isForgiven) await sql`DELETE FROM book.webhook_endpoint`;
    assertEquals(await claimedIds(), []);
    await mark(attempt, DELIVERED);
    assertEquals(await claimedIds(), [second]);
  });
}
