import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import { createReceiver, type ReceivedEvent } from "../../docs/webhook_receiver.ts";
import { newWebhookSecret } from "../../webhooks/secret.ts";
import { createSender } from "../../webhooks/sender.ts";
import { signedHeaders } from "../../webhooks/signature.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true });

const SECRET = newWebhookSecret();
const NOW = 1_700_000_000_000;
const BODY = '{"type":"deposit","depositId":"dep_1","note":"\u00fc","eventId":"evt_1"}';

/** The example as a server, and what it acted on. */
async function openExample(act: (event: ReceivedEvent) => void = () => {}) {
  const acted: ReceivedEvent[] = [];
  const seen = new Set<string>();
  const server = createServer(createReceiver({
    secrets: [SECRET],
    isNew: (id) => !seen.has(id) && seen.add(id).size > 0,
    act: (event) => {
      try {
        act(event);
      } catch (error) {
        // as a transaction that is rolled back
        seen.delete(event.eventId);
        throw error;
      }
      acted.push(event);
    },
    now: () => NOW,
  }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    acted,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
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

test("the example acknowledges what the service sends, and acts on it once", async () => {
  await using example = await openExample();
  const sender = createSender({ rules: { allowLoopback: true } });
  for (let redelivery = 0; redelivery < 3; redelivery++) {
    const outcome = await sender.send(
      {
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
  assertEquals(example.acted, [{
    name: "deposit.confirmed",
    eventId: "evt_1",
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
  // the time is signed: nobody can make an old delivery look new
  const renewed = { ...headersOf(NOW - 301_000), "webhook-timestamp": String(NOW / 1_000) };
  assertEquals(await post(example.url, renewed), refused);
  assertEquals(example.acted, []);
});

test("the example knows its old secret while it is rotated, and asks again for what it could not book", async () => {
  let broken = true;
  await using example = await openExample(() => {
    if (broken) throw new Error("no database");
  });
  const headers = headersOf(NOW, SECRET, newWebhookSecret());
  assertEquals(await post(example.url, headers), { status: 500, ok: false });
  broken = false;
  assertEquals(await post(example.url, headers), { status: 200, ok: true });
  assertEquals(example.acted.length, 1);
});
