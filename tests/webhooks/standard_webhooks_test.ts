import { assertEquals, assertThrows } from "@std/assert";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import { exampleOf } from "../../api/http/example.ts";
import { EVENT_TYPES } from "../../webhooks/events.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { createSender } from "../../webhooks/sender.ts";
import { openHook } from "../support/hooks.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true });

test("every kind of event is verified by the standardwebhooks package and by plain HMAC over the bytes", async () => {
  await using hook = openHook();
  const sender = createSender({ rules: { allowLoopback: true } });
  const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
  for (const type of EVENT_TYPES) {
    const example = exampleOf(EVENT_PAYLOADS[type]);
    const eventId = String(example.eventId);
    const body = JSON.stringify({ ...example, note: "\u00fc\u{1f4b6}" });
    const outcome = await sender.send(
      {
        merchantId: "mer_1",
        eventId,
        type,
        body,
        url: hook.url,
        secrets: { current, previous },
        timeoutMs: 5_000,
      },
      Date.now(),
      new AbortController().signal,
    );
    assertEquals(outcome.category, "acknowledged");
    const arrived = hook.arrived.at(-1);
    const headers = Object.fromEntries(arrived?.headers ?? []);
    assertEquals(headers["x-webhook-event"], type);
    for (const secret of [current, previous]) {
      assertEquals(new Webhook(secret).verify(arrived?.body ?? "", headers), JSON.parse(body));
    }
    assertThrows(() => new Webhook(newWebhookSecret()).verify(arrived?.body ?? "", headers));
    assertThrows(() => new Webhook(current).verify(`${arrived?.body} `, headers));
    const bytes = new TextEncoder().encode(body);
    assertEquals(
      [headers["x-webhook-signature"], headers["x-webhook-signature-previous"]],
      [current, previous].map((secret) => createHmac("sha256", secret).update(bytes).digest("hex")),
    );
  }
  assertEquals(hook.arrived.length, 6);
  sender.close();
});
