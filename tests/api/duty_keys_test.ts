import { assertEquals } from "@std/assert";
import { amountOf } from "../../ledger/amount.ts";
import type { Duties } from "../../ledger/duties.ts";
import { addressOf, type TestApi } from "../support/api.ts";
import { booksFaults, fund, SOMEWHERE } from "../support/books.ts";
import { approve, bootstrap, installation, issue, keyIdOf, settler } from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PERSONS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("1000") };
const KEYS: Duties = { fourEyes: "keys", aloneUpTo: amountOf("1000") };

/** Pays out a little: the status and, where it was made, its id. */
async function pay(api: TestApi, key: string) {
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  assertEquals(status, 201);
  return { id: body.withdrawalId as string, status: body.status as string };
}

const approval = (api: TestApi, key: string, path: string) =>
  api.call("POST", `${path}/approve`, { key });

test("payouts with a key that an administrator has made for an account with money wait for another one", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, key: own } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const made = await issue(api, one.key, path, ["read", "write", "payout"]);
  // over any number of steps, and by rotation
  const grandchild = await issue(api, made, path, ["payout"]);
  const rotated = await api.call("POST", `${path}/${await keyIdOf(api, grandchild)}/rotate`, {
    key: made,
  });
  const known = await api.call(
    "POST",
    `${path}/${await keyIdOf(api, await api.addKey(id))}/rotate`,
    {
      key: one.key,
    },
  );
  assertEquals(known.body.needsApproval, true);
  for (const key of [made, grandchild, rotated.body.apiKey, known.body.apiKey]) {
    const paid = await pay(api, key);
    assertEquals(paid.status, "PENDING_APPROVAL");
    const at = `/api/admin/withdrawals/${paid.id}`;
    assertEquals((await approval(api, one.key, at)).status, 403);
    assertEquals((await approval(api, other.key, at)).body.status, "PENDING");
  }
  // what the merchant makes with a key of its own is its own affair
  assertEquals((await pay(api, own)).status, "PENDING");
  assertEquals((await pay(api, await issue(api, own, path, ["payout"]))).status, "PENDING");
  // another administrator approves the key itself
  const keyPath = `${path}/${await keyIdOf(api, made)}`;
  assertEquals((await approval(api, one.key, keyPath)).status, 403);
  assertEquals((await approval(api, other.key, keyPath)).body.needsApproval, false);
  assertEquals((await approval(api, other.key, keyPath)).status, 200);
  assertEquals((await pay(api, made)).status, "PENDING");
  assertEquals((await pay(api, grandchild)).status, "PENDING_APPROVAL");
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

test("a merchant's first keys pay out at once, and so do all where persons are not told apart", async () => {
  await using api = await installation(PERSONS);
  const one = await bootstrap(api);
  const { body } = await api.call("POST", "/api/admin/merchants", {
    key: one.key,
    body: { name: "new" },
  });
  const path = `/api/merchants/${body.id}/api-keys`;
  await issue(api, one.key, path, ["read", "write", "payout"]);
  const { apiKeys } = (await api.call("GET", path, { key: one.key })).body;
  assertEquals(apiKeys[0].needsApproval, false);
  await using plain = await installation(KEYS);
  const admin = await bootstrap(plain);
  const { id } = await settler(plain);
  const made = await issue(plain, admin.key, `/api/merchants/${id}/api-keys`, ["payout"]);
  assertEquals((await pay(plain, made)).status, "PENDING");
});

test("no key that an administrator makes pays a reseller's margin out by itself", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  // made before the account was a reseller's, and before it had money
  const { body: merchant } = await api.call("POST", "/api/admin/merchants", {
    key: one.key,
    body: { name: "line" },
  });
  const key = await issue(api, one.key, `/api/merchants/${merchant.id}/api-keys`, ["payout"]);
  const line = await api.call("POST", "/api/resellers", {
    key: one.key,
    body: {
      name: "line",
      merchantId: merchant.id,
      withdrawalAddress: addressOf(77),
      network: "TRX",
    },
  });
  assertEquals(line.status, 201, JSON.stringify(line.body));
  await fund(api.sql, api.journal, merchant.id, "100");
  const paid = await pay(api, key);
  assertEquals(paid.status, "PENDING_APPROVAL");
  const at = `/api/admin/withdrawals/${paid.id}`;
  assertEquals((await approval(api, one.key, at)).status, 403);
  assertEquals((await approval(api, other.key, at)).status, 200);
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
  const made = await issue(api, one.key, `/api/merchants/${userId}/api-keys`, ["write"]);
  for (const waiting of [await settle(one.key, "1001", { userId }), await settle(made, "1001")]) {
    assertEquals(waiting.status, "APPROVAL_REQUIRED");
    assertEquals((await approve(api, one.key, waiting.id))[0], 403);
    assertEquals(await approve(api, other.key, waiting.id), [200, "PROCESSING"]);
  }
  assertEquals((await settle(one.key, "1000", { userId })).status, "PROCESSING");
  assertEquals((await settle(key, "1001")).status, "PROCESSING");
});
