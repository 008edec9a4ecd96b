import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { loadConfig } from "../../config.ts";
import { openCallbackSecrets } from "../../setup/callback_secrets.ts";
import { newWebhookSecret } from "../../webhooks/secret.ts";
import { createSecretBox, sealedWith } from "../../webhooks/secret_box.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

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

function configOf(key: string, earlier = "") {
  const answer = loadConfig({
    CALLBACK_SECRETS_KEY: key,
    CALLBACK_SECRETS_EARLIER_KEYS: earlier,
    DATABASE_URL: "postgres://x@127.0.0.1/x",
  });
  if (!answer.ok) throw new Error(`Cannot test as the settings are wrong: ${answer.faults}`);
  return answer.config;
}

testNeeding(DATABASE)(
  "a start encrypts what is not, replaces keys, and refuses one that does not fit",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const merchantId = await addMerchant(sql);
    const secret = newWebhookSecret();
    await sql`
    UPDATE book.merchant SET webhook_secret = ${secret}, webhook_secret_previous = ${secret}
    WHERE merchant_id = ${merchantId}`;
    const kept = async () => {
      const [row] = await sql<{ current: string; previous: string }[]>`
      SELECT webhook_secret AS current, webhook_secret_previous AS previous FROM book.merchant
      WHERE merchant_id = ${merchantId}`;
      assert(row !== undefined);
      return row;
    };
    const first = await openCallbackSecrets(configOf(OLD), sql);
    assert(first.ok);
    assertMatch((await kept()).current, /^enc1:/);
    assertEquals(await first.box.open((await kept()).previous, merchantId), secret);
    // again, nothing is written
    const before = await kept();
    assert((await openCallbackSecrets(configOf(OLD), sql)).ok);
    assertEquals(await kept(), before);
    const refused = await openCallbackSecrets(configOf(NEW), sql);
    assert(!refused.ok && refused.reason.includes("CALLBACK_SECRETS_KEY does not fit"));
    assertEquals(await kept(), before);
    assert((await openCallbackSecrets(configOf(NEW, OLD), sql)).ok);
    const last = await openCallbackSecrets(configOf(NEW), sql);
    assert(last.ok);
    assertEquals(await last.box.open((await kept()).current, merchantId), secret);
  },
);
