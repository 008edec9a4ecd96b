import { assertEquals } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { addressOf, type TestApi } from "../support/api.ts";
import { booksFaults, fund, SOMEWHERE } from "../support/books.ts";
import { approve, bootstrap, installation, issue, keyIdOf, settler } from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PERSONS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("1000") };
const KEYS: Duties = { fourEyes: "keys", aloneUpTo: amountOf("1000") };

const NO_PAYOUTS = [403, "Insufficient permissions to initiate a withdrawal"];
const PAID = [201, "PENDING"];

/** Pays out a little: what was answered. */
async function pay(api: TestApi, key: string) {
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  return [status, body.status ?? body.error];
}

const rotate = async (api: TestApi, key: string, path: string, id: string, overlapHours = 168) =>
  (await api.call("POST", `${path}/${id}/rotate`, { key, body: { overlapHours } })).body;

/** A new merchant that an administrator opens: where its keys are. */
async function open(api: TestApi, key: string) {
  const { body } = await api.call("POST", "/api/admin/merchants", { key, body: { name: "new" } });
  return { id: body.id as string, path: `/api/merchants/${body.id}/api-keys` };
}

const approval = (api: TestApi, key: string, path: string) =>
  api.call("POST", `${path}/approve`, { key });

test("a key that an administrator has made for an account with money has no payout right", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, key: own } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const made = await issue(api, one.key, path, ["read", "write", "payout"]);
  // over any number of steps, and by rotation
  const grandchild = await issue(api, made, path, ["payout"]);
  const rotated = await rotate(api, made, path, await keyIdOf(api, grandchild));
  const itself = await rotate(api, made, path, await keyIdOf(api, made));
  assertEquals([itself.needsApproval, itself.nowNeedApproval], [true, []]);
  const known = await rotate(api, one.key, path, await keyIdOf(api, await api.addKey(id)));
  assertEquals(known.needsApproval, true);
  for (const key of [made, grandchild, rotated.apiKey, itself.apiKey, known.apiKey]) {
    assertEquals(await pay(api, key), NO_PAYOUTS);
  }
  const settled = await api.call("POST", "/api/settlements", {
    key: made,
    body: {
      currency: "USDT",
      requestedAmount: "5",
      destinationAddress: SOMEWHERE,
      destinationNetwork: "TRX",
    },
  });
  assertEquals([settled.status, settled.body.error], [403, "Insufficient permissions"]);
  const [rows] = await api.sql`SELECT count(*)::int AS n FROM book.withdrawal`;
  assertEquals(rows?.n, 0);
  // what the merchant makes with a key of its own is its own affair
  assertEquals(await pay(api, own), PAID);
  assertEquals(await pay(api, await issue(api, own, path, ["payout"])), PAID);
  // another administrator gives the right
  const keyPath = `${path}/${await keyIdOf(api, made)}`;
  assertEquals((await approval(api, one.key, keyPath)).status, 403);
  assertEquals((await approval(api, other.key, keyPath)).body.needsApproval, false);
  assertEquals((await approval(api, other.key, keyPath)).status, 200);
  assertEquals(await pay(api, made), PAID);
  assertEquals(await pay(api, grandchild), NO_PAYOUTS);
  const { audit } = (await api.call("GET", `/api/admin/audit?subject=${await keyIdOf(api, made)}`, {
    key: one.key,
  })).body;
  assertEquals(
    audit.map((line: { action: string; refused: string | null }) => [line.action, line.refused]),
    [["api-key.approve", null], ["api-key.approve", "same_administrator"], [
      "api-key.create",
      null,
    ]],
  );
  assertEquals(await booksFaults(api.sql), []);
});

test("of the keys that administrators make before there is money, the first living one is free", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, path } = await open(api, one.key);
  const lost = await issue(api, one.key, path, ["payout"]);
  await api.call("DELETE", `${path}/${await keyIdOf(api, lost)}`, { key: one.key });
  const first = await issue(api, one.key, path, ["read", "write", "payout"]);
  const hidden = await issue(api, other.key, path, ["payout"]);
  const replaced = await rotate(api, one.key, path, await keyIdOf(api, first));
  await fund(api.sql, api.journal, id, "100");
  assertEquals(await pay(api, first), PAID);
  assertEquals(await pay(api, hidden), NO_PAYOUTS);
  assertEquals(await pay(api, replaced.apiKey), NO_PAYOUTS);
  const { apiKeys } = (await api.call("GET", path, { key: first })).body;
  assertEquals(
    apiKeys.map((key: { needsApproval: boolean }) => key.needsApproval),
    [true, true, false],
  );
});

test("two administrators who make the first key at once make one that is free", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { path } = await open(api, one.key);
  await Promise.all([one, other, one, other].map(({ key }) => issue(api, key, path, ["payout"])));
  const { apiKeys } = (await api.call("GET", path, { key: one.key })).body;
  assertEquals(
    apiKeys.filter((key: { needsApproval: boolean }) => !key.needsApproval).length,
    1,
  );
});

test("the key that a merchant was handed is its own once it has rotated it, and copies are nothing", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, path } = await open(api, one.key);
  const handed = await issue(api, one.key, path, ["read", "write", "payout"]);
  await fund(api.sql, api.journal, id, "100");
  // what a copy has made: it needs approval, also where another administrator has given it
  const minted = await issue(api, handed, path, ["read", "write", "payout"]);
  assertEquals(await pay(api, minted), NO_PAYOUTS);
  await approval(api, other.key, `${path}/${await keyIdOf(api, minted)}`);
  assertEquals(await pay(api, minted), PAID);
  const own = await rotate(api, handed, path, await keyIdOf(api, handed));
  assertEquals(
    [own.needsApproval, own.nowNeedApproval],
    [false, [await keyIdOf(api, handed), await keyIdOf(api, minted)].sort()],
  );
  assertEquals(await pay(api, own.apiKey), PAID);
  assertEquals(await pay(api, handed), NO_PAYOUTS);
  assertEquals(await pay(api, minted), NO_PAYOUTS);
  // the old key is still valid, but rotating it again does not give the caller a key of its own
  const again = await rotate(api, handed, path, await keyIdOf(api, handed));
  assertEquals([again.needsApproval, again.nowNeedApproval], [true, []]);
  assertEquals(await pay(api, again.apiKey), NO_PAYOUTS);
  // later rotations, and further keys, are as free as any
  const spare = await issue(api, own.apiKey, path, ["payout"]);
  const later = await rotate(api, own.apiKey, path, own.id);
  assertEquals([later.needsApproval, later.nowNeedApproval], [false, []]);
  for (const key of [own.apiKey, spare, later.apiKey]) assertEquals(await pay(api, key), PAID);
  assertEquals(await booksFaults(api.sql), []);
});

test("where persons are not told apart, no key needs approval", async () => {
  await using api = await installation(KEYS);
  const admin = await bootstrap(api);
  const { id } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const made = await issue(api, admin.key, path, ["payout"]);
  assertEquals(await pay(api, made), PAID);
  const { apiKeys } = (await api.call("GET", path, { key: admin.key })).body;
  assertEquals(apiKeys.map((key: { needsApproval: boolean }) => key.needsApproval), [false, false]);
});

test("no key that an administrator makes pays a reseller's margin out by itself", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const line = (merchantId: string) =>
    api.call("POST", "/api/resellers", {
      key: one.key,
      body: { name: "line", merchantId, withdrawalAddress: addressOf(77), network: "TRX" },
    });
  // made before the account was a reseller's, and before it had money
  const { id, path } = await open(api, one.key);
  const key = await issue(api, one.key, path, ["read", "write", "payout"]);
  const own = await rotate(api, key, path, await keyIdOf(api, key), 0);
  assertEquals((await line(id)).status, 201);
  await fund(api.sql, api.journal, id, "100");
  assertEquals(await pay(api, own.apiKey), NO_PAYOUTS);
  const listed = (await api.call("GET", path, { key: own.apiKey })).body.apiKeys;
  assertEquals(listed[0].needsApproval, true);
  // approved, it pays out as a key of any account does
  assertEquals((await approval(api, one.key, `${path}/${own.id}`)).status, 403);
  assertEquals((await approval(api, other.key, `${path}/${own.id}`)).body.needsApproval, false);
  assertEquals(await pay(api, own.apiKey), PAID);
  assertEquals(await pay(api, await issue(api, own.apiKey, path, ["payout"])), PAID);
  // nor does the first key of an account that is a reseller's from the beginning; a RESELLER key needs none
  const fresh = await open(api, one.key);
  assertEquals((await line(fresh.id)).status, 201);
  await fund(api.sql, api.journal, fresh.id, "100");
  assertEquals(await pay(api, await issue(api, one.key, fresh.path, ["payout"])), NO_PAYOUTS);
  const made = await api.call("POST", fresh.path, {
    key: one.key,
    body: { label: "line", permissions: ["read", "payout"], role: "RESELLER" },
  });
  assertEquals([made.status, made.body.needsApproval], [201, false]);
  assertEquals((await pay(api, made.body.apiKey))[0], 400);
});

test("a threshold that one administrator raises does not free the settlements that the same one asks for", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id: userId, key } = await settler(api, "9000");
  const raised = await api.call("PUT", "/api/admin/settings", {
    key: one.key,
    body: { settlementThresholds: { USDT: "999999" } },
  });
  assertEquals(raised.status, 200);
  const settle = async (by: string, requestedAmount: string, whose = {}) => {
    const { status, body } = await api.call("POST", "/api/settlements", {
      key: by,
      body: {
        currency: "USDT",
        requestedAmount,
        destinationAddress: SOMEWHERE,
        destinationNetwork: "TRX",
        ...whose,
      },
    });
    assertEquals(status, 201, JSON.stringify(body));
    return body;
  };
  const waiting = await settle(one.key, "1001", { userId });
  assertEquals(waiting.status, "APPROVAL_REQUIRED");
  assertEquals((await approve(api, one.key, waiting.id))[0], 403);
  assertEquals(await approve(api, other.key, waiting.id), [200, "PROCESSING"]);
  assertEquals((await settle(one.key, "1000", { userId })).status, "PROCESSING");
  assertEquals((await settle(key, "1001")).status, "PROCESSING");
});
