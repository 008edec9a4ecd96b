import { assertEquals } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import type { TestApi } from "../support/api.ts";
import { SOMEWHERE } from "../support/books.ts";
import {
  approve,
  book,
  bootstrap,
  confirm,
  installation,
  issue,
  keyIdOf,
  NOT_YOURS,
  settler,
} from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PERSONS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("1000") };
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };
const SETTLEMENT = {
  currency: "USDT",
  requestedAmount: "50",
  destinationAddress: SOMEWHERE,
  destinationNetwork: "TRX",
};

const rotate = (api: TestApi, key: string, path: string, id: string) =>
  api.call("POST", `${path}/${id}/rotate`, { key, body: { overlapHours: 168 } });

/** Who a key counts as, as the database says it. */
async function personOf(api: TestApi, key: string): Promise<string | null> {
  const [row] = await api.sql`
    SELECT administrator FROM hub.api_key WHERE id = ${await keyIdOf(api, key)}`;
  return row?.administrator ?? null;
}

test("an administrator's key is rotated by its own person and ended by others", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const path = "/api/admin/api-keys";
  const refused = await rotate(api, one.key, path, other.id);
  assertEquals([refused.status, refused.body.error], NOT_YOURS);
  assertEquals((await api.call("GET", path, { key: one.key })).body.apiKeys.length, 2);
  const { audit } =
    (await api.call("GET", `/api/admin/audit?subject=${other.id}`, { key: one.key })).body;
  assertEquals(audit[0].refused, "another_administrator");
  const own = await rotate(api, one.key, path, one.id);
  assertEquals(own.status, 201);
  assertEquals(await personOf(api, own.body.apiKey), one.id);
  const fresh = own.body.apiKey;
  // also what that one has made, over any number of steps
  const made = await issue(api, other.key, path, ["admin:read", "admin:write"]);
  assertEquals((await rotate(api, fresh, path, await keyIdOf(api, made))).status, 403);
  assertEquals((await rotate(api, other.key, path, await keyIdOf(api, made))).status, 201);
  assertEquals((await api.call("DELETE", `${path}/${other.id}`, { key: fresh })).status, 200);
});

test("a first key that names no person is still one person after it was rotated", async () => {
  await using api = await installation(PERSONS);
  const key = await api.addKey(null, ADMIN);
  const id = await keyIdOf(api, key);
  const { body } = await rotate(api, key, "/api/admin/api-keys", id);
  assertEquals(await personOf(api, body.apiKey), id);
  const { id: userId } = await settler(api);
  const made = await api.call("POST", "/api/settlements", { key, body: { ...SETTLEMENT, userId } });
  assertEquals(await approve(api, body.apiKey, made.body.id), NOT_YOURS);
});

test("a merchant's key that an administrator rotates counts as the one who knows it", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, key: own } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const ofOther = await issue(api, other.key, path, ["read", "write"]);
  assertEquals((await rotate(api, one.key, path, await keyIdOf(api, ofOther))).status, 403);
  const ofOne = await issue(api, one.key, path, ["read", "write"]);
  assertEquals((await rotate(api, ofOne, path, await keyIdOf(api, ofOther))).status, 403);
  // the merchant alone replaces its keys, and they stay whose they were
  const replaced = await rotate(api, own, path, await keyIdOf(api, ofOther));
  assertEquals(await personOf(api, replaced.body.apiKey), other.id);
  const spare = await api.addKey(id);
  const alone = await rotate(api, own, path, await keyIdOf(api, spare));
  assertEquals(await personOf(api, alone.body.apiKey), null);
  // one with nobody behind it
  const known = await rotate(api, one.key, path, await keyIdOf(api, own));
  assertEquals(await personOf(api, known.body.apiKey), one.id);
  const deposit = await book(api, known.body.apiKey, "5");
  assertEquals(await confirm(api, one.key, deposit), NOT_YOURS);
  assertEquals(await confirm(api, other.key, deposit), [200, "CONFIRMED"]);
});
