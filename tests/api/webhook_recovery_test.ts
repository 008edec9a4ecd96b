import { assert, assertEquals } from "@std/assert";
import { type TestApi, testApi } from "../support/api.ts";
import { until } from "../support/books.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A merchant whose webhook is at a URL; events of it are not retried. */
async function listener(api: TestApi, url: string) {
  const merchant = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${url}, webhook_enabled = true, webhook_retry_count = 0
    WHERE merchant_id = ${merchant.id}`;
  return merchant;
}

for (const route of ["test", "resume"]) {
  test(`webhook/${route} has what ran out of retries sent once more`, async () => {
    let isDown = true;
    await using hook = openHook(() =>
      isDown ? new Response("down", { status: 503 }) : Response.json({ ok: true })
    );
    await using api = await testApi({ wakeWebhooks: (id) => webhooks.wake(id) });
    const webhooks = openWebhooks(api.sql);
    const { id, key } = await listener(api, hook.url);
    const old = await addEvent(api.sql, id, {
      status: "FAILED",
      attempts: 1,
      createdAt: new Date(Date.now() - 73 * 3_600_000),
    });
    const missed = [await addEvent(api.sql, id), await addEvent(api.sql, id)];
    webhooks.wake(id);
    for (const event of missed) {
      await until(async () => (await eventState(api.sql, event)).status === "FAILED");
    }
    const path = `/api/merchants/${id}/webhook/${route}`;
    if (route === "test") {
      assertEquals((await api.call("POST", path, { key })).body.success, false);
      for (const event of missed) assertEquals((await eventState(api.sql, event)).status, "FAILED");
    }
    isDown = false;
    assertEquals((await api.call("POST", path, { key })).status, 200);
    for (const event of missed) {
      await until(async () => (await eventState(api.sql, event)).status === "DELIVERED");
    }
    assertEquals((await eventState(api.sql, old)).status, "FAILED");
    await webhooks.stop();
  });
}

test("a test event is refused while deliveries are off, and has them made up once they are on", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const missed = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  const turn = (on: boolean) =>
    api.call("PATCH", `/api/merchants/${id}`, { key, body: { webhookEnabled: on } });
  await turn(false);
  const path = `/api/merchants/${id}/webhook/test`;
  const refused = await api.call("POST", path, { key });
  assertEquals([refused.status, refused.body.error, refused.body.details], [
    422,
    "Validation failed",
    [{
      path: ["webhookEnabled"],
      message: "Callbacks are switched off",
      code: "switched_off",
    }],
  ]);
  assertEquals((await eventState(api.sql, missed)).status, "FAILED");
  await turn(true);
  assertEquals((await api.call("POST", path, { key })).body.success, true);
  const webhooks = openWebhooks(api.sql);
  webhooks.start();
  await until(async () => (await eventState(api.sql, missed)).status === "DELIVERED");
  await webhooks.stop();
});

test("an administrator's test event is audited with its outcome, a merchant's own is not", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const path = `/api/merchants/${id}/webhook/test`;
  await api.call("POST", path, { key });
  const lines = () =>
    api.sql`SELECT action, subject, after, request_id FROM hub.audit WHERE merchant_id = ${id}`;
  assertEquals((await lines()).length, 0);
  const { body } = await api.call("POST", path, { key: admin });
  const [line, ...more] = await lines();
  assertEquals([line?.action, line?.subject, line?.after, more], [
    "webhook.test",
    id,
    { eventId: body.eventId, outcome: "acknowledged" },
    [],
  ]);
  assert(line?.request_id !== null);
});

test("lastDeliveredAt is the time of the last acknowledgement, whichever event it was for", async () => {
  await using hook = openHook(({ eventId }) =>
    eventId === refused ? new Response("no", { status: 500 }) : Response.json({ ok: true })
  );
  await using api = await testApi({ wakeWebhooks: (id) => webhooks.wake(id) });
  const webhooks = openWebhooks(api.sql);
  const { id, key } = await listener(api, hook.url);
  const last = async () =>
    (await api.call("GET", `/api/merchants/${id}/webhook/status`, { key })).body.lastDeliveredAt;
  assertEquals(await last(), null);
  const older = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  const refused = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  const long = new Date(Date.now() - 3_600_000);
  await api.sql`
    UPDATE book.outbox SET status = 'DELIVERED', delivered_at = ${long} WHERE id = ${refused}`;
  assertEquals(await last(), long.toISOString());
  // sent again in vain: that it was acknowledged an hour ago stays true
  const again = (event: string) =>
    api.call("POST", `/api/webhook-deliveries/${event}/redeliver`, { key });
  await again(refused);
  await until(async () => (await eventState(api.sql, refused)).status === "FAILED");
  assertEquals(await last(), long.toISOString());
  await again(older);
  await until(async () => (await eventState(api.sql, older)).status === "DELIVERED");
  assert(Date.parse(await last()) > long.getTime() + 3_000_000);
  await webhooks.stop();
});
