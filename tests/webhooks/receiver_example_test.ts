import { assertEquals, assertThrows } from "@std/assert";
import { createServer } from "node:http";
import { createReceiver, type ReceivedEvent } from "../../client/webhook_receiver.ts";
import type { AnySql } from "../../ledger/database/connect.ts";
import { createSender } from "../../webhooks/sender.ts";
import { newWebhookSecret, signedHeaders } from "../../webhooks/signature.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const SECRET = newWebhookSecret();
const NOW = 1_700_000_000_000;
const BODY =
  '{"type":"deposit","status":"confirmed","depositId":"dep_1","note":"\u00fc","eventId":"evt_1"}';

/** The example as a server, booking as its header shows; a broken merchant can book nothing. */
async function openExample() {
  const database = await testDatabase();
  const { sql } = database;
  await sql`CREATE TABLE webhook_event (id text PRIMARY KEY)`;
  await sql`CREATE TABLE merchants_booking (name text, event_id text, payload text)`;
  const merchant = { isBroken: false };
  const bookIt = async (tx: AnySql, { name, eventId, payload }: ReceivedEvent) => {
    if (merchant.isBroken) throw new Error("cannot book");
    await tx`
      INSERT INTO merchants_booking VALUES (${name}, ${eventId}, ${JSON.stringify(payload)})`;
  };
  const server = createServer(createReceiver({
    secrets: [SECRET],
    book: async (event) => {
      await sql.begin(async (tx) => {
        const [isNew] = await tx`
          INSERT INTO webhook_event (id) VALUES (${event.eventId})
          ON CONFLICT DO NOTHING RETURNING id`;
        if (isNew !== undefined) await bookIt(tx, event);
      });
    },
    now: () => NOW,
  }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    merchant,
    booked: async () => {
      const rows = await sql<{ name: string; event_id: string; payload: string }[]>`
        SELECT name, event_id, payload FROM merchants_booking`;
      return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) }));
    },
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
      await database[Symbol.asyncDispose]();
    },
  };
}

function headersOf(at: number, previous: string | null = null, current = SECRET) {
  return signedHeaders({ current, previous }, {
    eventId: "evt_1",
    type: "deposit.confirmed",
    timestamp: at / 1_000,
    body: BODY,
  });
}

async function post(url: string, headers: Record<string, string>, body = BODY) {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, connection: "close" },
    body,
  });
  return { status: response.status, ok: (await response.json()).ok };
}

test("the example acknowledges what the service sends, and books it once", async () => {
  await using example = await openExample();
  const sender = createSender({ rules: { allowLoopback: true } });
  for (let redelivery = 0; redelivery < 3; redelivery++) {
    const outcome = await sender.send(
      {
        merchantId: "mer_1",
        eventId: "evt_1",
        type: "deposit.confirmed",
        body: BODY,
        url: example.url,
        secrets: { current: SECRET, previous: null },
        timeoutMs: 5_000,
      },
      NOW,
      new AbortController().signal,
    );
    assertEquals(outcome.category, "acknowledged");
  }
  sender.close();
  assertEquals(await example.booked(), [{
    name: "deposit.confirmed",
    event_id: "evt_1",
    payload: JSON.parse(BODY),
  }]);
});

test("the example refuses another body, another secret, and what is replayed later", async () => {
  await using example = await openExample();
  const refused = { status: 401, ok: false };
  assertEquals(await post(example.url, headersOf(NOW), BODY.replace("dep_1", "dep_2")), refused);
  assertEquals(await post(example.url, headersOf(NOW, null, newWebhookSecret())), refused);
  assertEquals(await post(example.url, headersOf(NOW - 301_000)), refused);
  assertEquals(await post(example.url, headersOf(NOW + 301_000)), refused);
  assertEquals(await post(example.url, {}), refused);
  // the time is signed: an old delivery cannot be made to look new
  const renewed = { ...headersOf(NOW - 301_000), "webhook-timestamp": String(NOW / 1_000) };
  assertEquals(await post(example.url, renewed), refused);
  assertEquals(await example.booked(), []);
});

test("the example takes an event's name from the signed body, not from its header", async () => {
  await using example = await openExample();
  const relabelled = { ...headersOf(NOW), "X-Webhook-Event": "withdrawal.failed" };
  assertEquals(await post(example.url, relabelled), { status: 200, ok: true });
  assertEquals((await example.booked()).map(({ name }) => name), ["deposit.confirmed"]);
});

test("the example knows its old secret while it is rotated", async () => {
  await using example = await openExample();
  const headers = headersOf(NOW, SECRET, newWebhookSecret());
  assertEquals(await post(example.url, headers), { status: 200, ok: true });
  assertEquals((await example.booked()).length, 1);
});

test("the example books what it could not book before, once, when it is delivered again", async () => {
  await using example = await openExample();
  example.merchant.isBroken = true;
  const deliver = () => post(example.url, headersOf(NOW));
  assertEquals(await deliver(), { status: 500, ok: false });
  assertEquals(await deliver(), { status: 500, ok: false });
  example.merchant.isBroken = false;
  const both = await Promise.all([deliver(), deliver()]);
  assertEquals(both, [{ status: 200, ok: true }, { status: 200, ok: true }]);
  assertEquals((await example.booked()).length, 1);
});

Deno.test("the example does not start without a secret", () => {
  for (const secrets of [[], [""], [SECRET, ""]]) {
    assertThrows(() => createReceiver({ secrets, book: () => Promise.resolve() }), Error, "secret");
  }
});
