import { assertEquals } from "@std/assert";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("an endpoint with many events is sent more before the first are written down", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push(await addEvent(sql, merchantId));
  const outbox = createOutbox(sql);
  const held = Promise.withResolvers<void>();
  const webhooks = openWebhooks(sql, {
    outbox: {
      ...outbox,
      mark: async (marks) => {
        await held.promise;
        return await outbox.mark(marks);
      },
    },
  });
  webhooks.wake(merchantId);
  await until(() => webhooks.figures.unmarked === ids.length);
  held.resolve();
  const waiting = () => sql`SELECT FROM book.outbox WHERE status = 'PENDING'`;
  await until(async () => (await waiting()).length === 0);
  assertEquals(hook.arrived.map(({ eventId }) => eventId).toSorted(), ids.toSorted());
  await webhooks.stop();
});

test("where most of an endpoint's deliveries hang, the places that are left are used", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = Promise.withResolvers<void>();
  const hanging = new Set<string>();
  await using hook = openHook(async ({ eventId }) => {
    if (hanging.has(eventId)) await held.promise;
    return Response.json({ ok: true });
  });
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  for (let i = 0; i < 40; i++) {
    const id = await addEvent(sql, merchantId);
    // of the first eight, which is what a new endpoint is sent at a time
    if (i < 7) hanging.add(id);
  }
  // no sweep that could help
  const webhooks = openWebhooks(sql, { pollMs: 60_000 });
  webhooks.wake(merchantId);
  const delivered = () => sql`SELECT FROM book.outbox WHERE status = 'DELIVERED'`;
  await until(async () => (await delivered()).length === 33);
  assertEquals(webhooks.figures.inFlight, hanging.size);
  held.resolve();
  await until(async () => (await delivered()).length === 40);
  assertEquals(hook.arrived.length, 40);
  await webhooks.stop();
});
