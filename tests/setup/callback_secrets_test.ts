/**
 * The key of callback secrets: a start with it, without it, and its replacement beside running nodes.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { loadConfig } from "../../app/config/config.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { callbackReasons } from "../../app/health/callbacks.ts";
import { type CallbackSecrets, openCallbackSecrets } from "../../app/open/callback_secrets.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { createSecretBox, sealedWith } from "../../webhooks/secret_box.ts";
import { testApi } from "../support/api.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const OLD = "the first key of callback secrets in tests";
const NEW = "another key of callback secrets in tests";
const LOST = "a key of callback secrets that is gone";

const SENDER = { figures: { underWay: 0, restarts: 0, awayMs: 0 } };

/** A start's box; closed with what it is used for. */
async function start(sql: Sql, key: string, earlier = ""): Promise<CallbackSecrets & Disposable> {
  const answer = loadConfig({
    CALLBACK_SECRETS_KEY: key,
    CALLBACK_SECRETS_EARLIER_KEYS: earlier,
    DATABASE_URL: "postgres://x@127.0.0.1/x",
  });
  if (!answer.ok) throw new Error(`Cannot test as the settings are wrong: ${answer.faults}`);
  const secrets = await openCallbackSecrets(answer.config, sql);
  return Object.defineProperty(secrets, Symbol.dispose, {
    value: () => secrets.close(),
  }) as CallbackSecrets & Disposable;
}

async function keptOf(sql: Sql, merchantId: string) {
  const [row] = await sql<{ current: string; previous: string | null }[]>`
    SELECT webhook_secret AS current, webhook_secret_previous AS previous FROM book.merchant
    WHERE merchant_id = ${merchantId}`;
  assert(row !== undefined);
  return row;
}

test("a start encrypts what is not, and replaces keys", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const secret = newWebhookSecret();
  await sql`
    UPDATE book.merchant SET webhook_secret = ${secret}, webhook_secret_previous = ${secret}
    WHERE merchant_id = ${merchantId}`;
  using first = await start(sql, OLD);
  assertMatch((await keptOf(sql, merchantId)).current, /^enc1:/);
  assertEquals(
    await first.box.open((await keptOf(sql, merchantId)).previous ?? "", merchantId),
    secret,
  );
  // again, nothing is written
  const before = await keptOf(sql, merchantId);
  using again = await start(sql, OLD);
  assertEquals(await keptOf(sql, merchantId), before);
  assertEquals(again.figures, { unreadable: 0, earlier: 0 });
  // a row that something else holds is not waited for, and read with the earlier key
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.account WHERE merchant_id = ${merchantId} FOR UPDATE`,
  );
  using beside = await start(sql, NEW, OLD);
  await letGo();
  assertEquals(beside.figures, { unreadable: 0, earlier: 1 });
  using _next = await start(sql, NEW, OLD);
  using last = await start(sql, NEW);
  assertEquals(await last.box.open((await keptOf(sql, merchantId)).current, merchantId), secret);
});

test("a lost key stops nobody from starting: callbacks wait without an attempt, and a new secret ends that", async () => {
  await using api = await testApi();
  const { sql } = api;
  await using hook = openHook();
  const { id, key } = await api.addMerchant();
  const well = await api.addMerchant();
  const [lost, box] = [await createSecretBox(LOST), await createSecretBox(OLD)];
  await sql`
    UPDATE book.merchant SET webhook_secret = ${await lost.seal(newWebhookSecret(), id)},
      webhook_url = ${hook.url}, webhook_enabled = true WHERE merchant_id = ${id}`;
  // a previous secret that is out of use, of a key that is gone as well
  await sql`
    UPDATE book.merchant SET webhook_secret = ${await box.seal(newWebhookSecret(), well.id)},
      webhook_secret_previous = ${await lost.seal(newWebhookSecret(), well.id)},
      webhook_previous_until = now() - interval '30 days', webhook_url = ${hook.url},
      webhook_enabled = true WHERE merchant_id = ${well.id}`;
  using secrets = await start(sql, OLD);
  assertEquals(secrets.figures, { unreadable: 1, earlier: 0 });
  assertEquals((await keptOf(sql, well.id)).previous, null);
  const webhooks = openWebhooks(sql, { openSecret: secrets.box.open, secretWaitMs: 1_000 });
  const reasons = () =>
    callbackReasons({ webhooks, sender: SENDER, secrets, names: new NameLookups() });
  assertMatch(reasons().join(), /callbacks of 1 merchants wait as no configured key opens/);
  const [waits, goes] = [await addEvent(sql, id), await addEvent(sql, well.id)];
  webhooks.start();
  await until(async () => (await eventState(sql, goes)).status === "DELIVERED");
  await until(async () => (await eventState(sql, waits)).last_outcome === "no_secret");
  await until(() => webhooks.figures.withoutSecret === 1);
  // it is tried over and over, and none of it counts
  const dueAt = async () =>
    (await sql`SELECT next_attempt_at::text AS at FROM book.outbox WHERE id = ${waits}`)[0]?.at;
  const first = await dueAt();
  await until(async () => await dueAt() !== first);
  await until(async () => (await eventState(sql, waits)).attempts === 0);
  assertEquals((await sql`SELECT FROM book.delivery_attempt WHERE event_id = ${waits}`).length, 0);
  assertEquals(hook.arrived.map(({ eventId }) => eventId), [goes]);
  await webhooks.stop();

  // what the service does with a key of its own: the interface of this test has another one
  const tested = await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
  assertEquals(tested.status, 409);
  const rotated = await api.call("POST", `/api/merchants/${id}/webhook/rotate-secret`, { key });
  assertEquals([rotated.status, rotated.body.previousValidUntil], [200, null]);
  assertEquals((await keptOf(sql, id)).previous, null);
});

test("a key is replaced beside running nodes: no profile in memory brings the old text back", async () => {
  await using api = await testApi();
  const { sql } = api;
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { id } = await api.addMerchant();
  using _old = await start(sql, OLD);
  const rename = (name: string) =>
    api.call("PATCH", `/api/merchants/${id}`, { key: admin, body: { name } });
  assertEquals((await rename("one")).status, 200);
  // first round: every node knows the new key; second round: the first node encrypts with it
  using told = await start(sql, OLD, NEW);
  using fresh = await start(sql, NEW, OLD);
  assertEquals(sealedWith((await keptOf(sql, id)).current), fresh.box.keyId);
  assertEquals((await rename("two")).status, 200);
  const kept = await keptOf(sql, id);
  assertEquals(sealedWith(kept.current), fresh.box.keyId);
  assertEquals(await told.box.open(kept.current, id), await fresh.box.open(kept.current, id));
  await Promise.all([told.look(), fresh.look()]);
  assertEquals([told.figures.unreadable, fresh.figures.unreadable], [0, 0]);
  assertEquals(fresh.figures.earlier, 0, "nothing needs the old key any more");
  using last = await start(sql, NEW);
  assertEquals(last.figures, { unreadable: 0, earlier: 0 });
});
