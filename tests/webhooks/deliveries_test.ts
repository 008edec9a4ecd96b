import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const NO = () => new Response("no", { status: 500 });

test("an event is delivered when its merchant is woken, and logged", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const webhooks = openWebhooks(sql);
  const id = await addEvent(sql, merchantId);
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  const [arrived] = hook.arrived;
  assertEquals(arrived?.eventId, id);
  assertEquals(arrived?.body, JSON.stringify({ type: "deposit", eventId: id }));
  const [log] = await sql`SELECT * FROM book.delivery_attempt`;
  assertEquals(
    [log?.event_id, log?.number, log?.outcome, log?.http_status, log?.answer],
    [id, 1, "acknowledged", 200, '{"ok":true}'],
  );
  await webhooks.stop();
});

test("an event that is not acknowledged is retried with its id, and then listed as failed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook(NO);
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  await sql`UPDATE book.merchant SET webhook_retry_count = 1`;
  const webhooks = openWebhooks(sql);
  const id = await addEvent(sql, merchantId);
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, id)).status === "FAILED");
  assertEquals(hook.arrived.map(({ eventId }) => eventId), [id, id]);
  const [first, second] = hook.arrived;
  assert(first !== undefined && second !== undefined);
  assertGreaterOrEqual(second.at - first.at, 990);
  assertEquals(first.body, second.body);
  assertEquals((await eventState(sql, id)).last_outcome, "bad_status");
  const [log] = await sql`SELECT count(*)::int AS n FROM book.delivery_attempt`;
  assertEquals(log?.n, 2);
  await webhooks.stop();
});

test("a retry count of zero means one attempt", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook(NO);
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  await sql`UPDATE book.merchant SET webhook_retry_count = 0`;
  const webhooks = openWebhooks(sql);
  const id = await addEvent(sql, merchantId);
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, id)).status === "FAILED");
  assertEquals(hook.arrived.length, 1);
  await webhooks.stop();
});

test("within one payment the order is kept: a retry holds later events back, others pass", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let failures = 1;
  const events: string[] = [];
  await using hook = openHook(({ eventId }) =>
    eventId === events[0] && failures-- > 0 ? NO() : Response.json({ ok: true })
  );
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  for (const paymentId of ["dep_a", "dep_a", "dep_b"]) {
    events.push(await addEvent(sql, merchantId, { paymentId }));
  }
  const webhooks = openWebhooks(sql);
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, events[1] ?? "")).status === "DELIVERED");
  const order = hook.arrived.map(({ eventId }) => events.indexOf(eventId));
  assertEquals(order.filter((index) => index !== 2), [0, 0, 1]);
  assert(order.indexOf(2) < order.lastIndexOf(0), "the other payment did not wait");
  await webhooks.stop();
});

test("a slow endpoint delays nobody else", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = Promise.withResolvers<void>();
  await using slow = openHook(async () => {
    await held.promise;
    return Response.json({ ok: true });
  });
  await using quick = openHook();
  const slowId = await addMerchant(sql, { webhookUrl: slow.url });
  const quickId = await addMerchant(sql, { webhookUrl: quick.url });
  for (let i = 0; i < 50; i++) await addEvent(sql, slowId);
  const webhooks = openWebhooks(sql);
  webhooks.wake(slowId);
  await until(() => slow.arrived.length > 0);
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push(await addEvent(sql, quickId));
  webhooks.wake(quickId);
  for (const id of ids) {
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  assert(slow.arrived.length < 50, "claims of a slow endpoint are bounded");
  await webhooks.stop();
  held.resolve();
});

test("what a crash swallowed is found by the sweep once its lease is over", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const expired = new Date(Date.now() - 1_000);
  const held = new Date(Date.now() + 60_000);
  const lost = await addEvent(sql, merchantId, { attempts: 1, claimedUntil: expired });
  const often = await addEvent(sql, merchantId, { attempts: 9, claimedUntil: expired });
  const leased = await addEvent(sql, merchantId, { attempts: 1, claimedUntil: held });
  const webhooks = openWebhooks(sql);
  webhooks.start();
  for (const id of [lost, often]) {
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  assertEquals((await eventState(sql, lost)).attempts, 2);
  assertEquals((await eventState(sql, leased)).status, "PENDING");
  await webhooks.stop();
});

test("a node that starts again takes up at once what it held when it died, and nothing of others", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const claimAs = async (node: string, session: string) => {
    const id = await addEvent(sql, merchantId);
    await createOutbox(sql, { node, session }).claim([{ merchantId, room: 1 }]);
    assert((await eventState(sql, id)).claimed_until !== null);
    return id;
  };
  const mine = await claimAs("a", "before");
  const others = await claimAs("b", "before");
  const webhooks = openWebhooks(sql, {
    outbox: createOutbox(sql, { node: "a", session: "now" }),
  });
  webhooks.start();
  await until(async () => (await eventState(sql, mine)).status === "DELIVERED");
  assertEquals((await eventState(sql, mine)).attempts, 2);
  assertEquals((await eventState(sql, others)).status, "PENDING");
  await webhooks.stop();
});

test("events of a merchant that switched deliveries off are skipped", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const off = await addMerchant(sql, { webhookUrl: hook.url });
  const gone = await addMerchant(sql, { webhookUrl: hook.url });
  const events = [await addEvent(sql, off), await addEvent(sql, gone)];
  await sql`UPDATE book.merchant SET webhook_enabled = false WHERE merchant_id = ${off}`;
  await sql`UPDATE book.merchant SET webhook_url = NULL WHERE merchant_id = ${gone}`;
  const webhooks = openWebhooks(sql);
  webhooks.wake(off);
  webhooks.start();
  for (const id of events) {
    await until(async () => (await eventState(sql, id)).status === "SKIPPED");
  }
  assertEquals(hook.arrived.length, 0);
  await webhooks.stop();
});

test("an endpoint that answers again gets what it missed within 72 hours, once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const hours = (n: number) => new Date(Date.now() - n * 3_600_000);
  const missed = await addEvent(sql, merchantId, {
    status: "FAILED",
    attempts: 4,
    createdAt: hours(71),
  });
  const old = await addEvent(sql, merchantId, {
    status: "FAILED",
    attempts: 4,
    createdAt: hours(73),
  });
  await sql`INSERT INTO book.second_chance (merchant_id) VALUES (${merchantId})`;
  const webhooks = openWebhooks(sql);
  const deliverOne = async () => {
    const id = await addEvent(sql, merchantId);
    webhooks.wake(merchantId);
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  };
  await deliverOne();
  await until(async () => (await eventState(sql, missed)).status === "DELIVERED");
  assertEquals((await eventState(sql, old)).status, "FAILED");
  // One that had its second chance stays failed, whatever is acknowledged later. All rows at once:
  // the acknowledgement above may still be reviving.
  const again = await sql.begin(async (tx) => {
    const id = await addEvent(tx, merchantId, { status: "FAILED", attempts: 4 });
    await tx`INSERT INTO book.event_revival (event_id, merchant_id) VALUES (${id}, ${merchantId})`;
    await tx`INSERT INTO book.second_chance (merchant_id) VALUES (${merchantId}) ON CONFLICT DO NOTHING`;
    return id;
  });
  await deliverOne();
  await until(async () => (await sql`SELECT FROM book.second_chance`).length === 0);
  assertEquals((await eventState(sql, again)).status, "FAILED");
  await webhooks.stop();
});

test("stopping gives back what is under way, uncounted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = Promise.withResolvers<Response>();
  await using hook = openHook(() => held.promise);
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const id = await addEvent(sql, merchantId);
  // a busy machine gets time to write what is given back
  const webhooks = openWebhooks(sql, { drainMs: 2_000 });
  webhooks.wake(merchantId);
  await until(() => hook.arrived.length === 1);
  await webhooks.stop();
  const state = await eventState(sql, id);
  assertEquals([state.status, state.attempts, state.claimed_until], ["PENDING", 0, null]);
  held.resolve(new Response());
});

test("two nodes on one outbox deliver each event once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchants = await Promise.all(
    Array.from({ length: 5 }, () => addMerchant(sql, { webhookUrl: hook.url })),
  );
  for (const merchantId of merchants) for (let i = 0; i < 40; i++) await addEvent(sql, merchantId);
  const nodes = [openWebhooks(sql), openWebhooks(database.connect({ max: 4 }))];
  for (const node of nodes) {
    node.start();
    for (const merchantId of merchants) node.wake(merchantId);
  }
  await until(async () => {
    const [row] = await sql`SELECT count(*)::int AS n FROM book.outbox WHERE status = 'DELIVERED'`;
    return row?.n === 200;
  });
  assertEquals(hook.arrived.length, 200);
  assertEquals(new Set(hook.arrived.map(({ eventId }) => eventId)).size, 200);
  await Promise.all(nodes.map((node) => node.stop()));
});

test("an acknowledgement counts although another node claimed the event meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = Promise.withResolvers<Response>();
  await using hook = openHook(() => held.promise);
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const id = await addEvent(sql, merchantId);
  const webhooks = openWebhooks(sql, { drainMs: 5_000 });
  webhooks.wake(merchantId);
  await until(() => hook.arrived.length === 1);
  // Another node claimed it meanwhile: the acknowledgement of the first attempt is true all the same.
  await sql`UPDATE book.outbox SET attempts = 2 WHERE id = ${id}`;
  held.resolve(Response.json({ ok: true }));
  await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  await webhooks.stop();
});

test("an event that no sender was ready for keeps all of its attempts", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: "https://shop.example/" });
  await sql`UPDATE book.merchant SET webhook_retry_count = 0`;
  const id = await addEvent(sql, merchantId);
  let sent = 0;
  const webhooks = openWebhooks(sql, {
    sender: {
      send: () => {
        sent++;
        return Promise.resolve({ category: "not_sent", durationMs: 3 });
      },
      close: () => {},
    },
  });
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, id)).last_outcome === "not_sent");
  const { status, attempts, claimed_until } = await eventState(sql, id);
  assertEquals([status, attempts, claimed_until], ["PENDING", 0, null]);
  const [log] = await sql`SELECT count(*)::int AS n FROM book.delivery_attempt`;
  assertEquals(log?.n, 0);
  webhooks.start();
  await new Promise((resolve) => setTimeout(resolve, 500));
  assertEquals(sent, 1, "it is tried again after a pause");
  await webhooks.stop();
});
