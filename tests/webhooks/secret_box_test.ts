import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { createSecretBox, sealedWith } from "../../webhooks/secret_box.ts";

const OLD = "the first key of callback secrets in tests";
const NEW = "another key of callback secrets in tests";

Deno.test("a callback secret is encrypted for its merchant, differently every time", async () => {
  const box = await createSecretBox(OLD);
  const secret = newWebhookSecret();
  const [one, two] = [await box.seal(secret, "mer_1"), await box.seal(secret, "mer_1")];
  assertNotEquals(one, two);
  assert(!one.includes(secret) && !one.includes(secret.slice("whsec_".length)));
  assertEquals(sealedWith(one), box.keyId);
  // the second time it is remembered
  for (let i = 0; i < 2; i++) assertEquals(await box.open(one, "mer_1"), secret);
  await assertRejects(() => box.open(one, "mer_2"), Error, "it was changed");
  const changed = `${one.slice(0, -8)}AAAAAAA=`;
  await assertRejects(() => box.open(changed, "mer_1"), Error, "it was changed");
});

Deno.test("a secret is read with an earlier key, and not without its key", async () => {
  const sealed = await (await createSecretBox(OLD)).seal("whsec_x", "mer_1");
  assertEquals(await (await createSecretBox(NEW, [OLD])).open(sealed, "mer_1"), "whsec_x");
  const stranger = await createSecretBox(NEW);
  const error = await assertRejects(() => stranger.open(sealed, "mer_1"), Error, "of the key");
  assert(!error.message.includes(sealed));
});
