import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { newWebhookSecret, signedHeaders, standardSignature } from "../../webhooks/signature.ts";

const BODY = '{"type":"deposit","depositId":"dep_1","note":"\u00fc\u{1f4b6}"}';

async function hmac(key: BufferSource, text: string): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey(
    "raw",
    key,
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text)));
}

Deno.test("the signature is the hex HMAC of the body's bytes under the secret's own text", async () => {
  const secret = newWebhookSecret();
  const headers = signedHeaders({ current: secret, previous: null }, {
    eventId: "evt_1",
    type: "deposit.confirmed",
    timestamp: 1_700_000_000,
    body: BODY,
  });
  const expected = await hmac(new TextEncoder().encode(secret), BODY);
  assertEquals(headers["X-Webhook-Signature"], expected.toHex());
  assertEquals(headers["X-Webhook-Id"], "evt_1");
  assertEquals(headers["X-Webhook-Event"], "deposit.confirmed");
  assertEquals(headers["X-Webhook-Timestamp"], "1700000000");
  assertEquals("X-Webhook-Signature-Previous" in headers, false);
});

Deno.test("the Standard Webhooks signature matches the example of that specification", () => {
  const signature = standardSignature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", {
    eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    type: "deposit.confirmed",
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  assertEquals(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

Deno.test("while a secret is rotated both sign: the new one first, the old one in its own header", async () => {
  const current = newWebhookSecret();
  const previous = newWebhookSecret();
  assertNotEquals(current, previous);
  const headers = signedHeaders({ current, previous }, {
    eventId: "evt_1",
    type: "withdrawal.failed",
    timestamp: 1_700_000_000,
    body: BODY,
  });
  const old = await hmac(new TextEncoder().encode(previous), BODY);
  assertEquals(headers["X-Webhook-Signature-Previous"], old.toHex());
  const signed = `evt_1.1700000000.${BODY}`;
  const expected = await Promise.all([current, previous].map(async (secret) => {
    const key = Uint8Array.fromBase64(secret.slice("whsec_".length));
    return `v1,${(await hmac(key, signed)).toBase64()}`;
  }));
  assertEquals(headers["webhook-signature"], expected.join(" "));
});

Deno.test("a secret is 32 random bytes, and a malformed one is not used", () => {
  const secret = newWebhookSecret();
  assertMatch(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const delivery = { eventId: "e", type: "deposit.failed", timestamp: 1, body: "{}" } as const;
  for (const bad of ["", "whsec_", "secret"]) {
    const error = assertThrows(() => standardSignature(bad, delivery), RangeError);
    assertEquals(bad !== "" && bad !== "secret" && error.message.includes(bad), false);
  }
});
