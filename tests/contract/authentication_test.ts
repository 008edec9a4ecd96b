import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { ADMIN_SUBJECTS } from "../../api/http/permission.ts";
import { OPERATIONS } from "../../api/routes.ts";
import type { Access, Route } from "../../api/http/route.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openOffice, openReseller, openShop, PAYOUT } from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: authentication");
const rule = suite("Authentication");

rule("1: the key is sent raw or as Bearer", async (api) => {
  const { key } = await openShop(api);
  for (const header of [key, `Bearer ${key}`, `bearer ${key}`]) {
    const { status } = await api.call("GET", "/api/balance", {
      headers: { authorization: header },
    });
    assertEquals(status, 200);
  }
});

shared(
  "Authentication 2: a key that is revoked, expired, another environment's or malformed is 401",
  async (api) => {
    const shop = await openShop(api);
    const revoked = await api.addKey(shop.id);
    await api.sql`UPDATE hub.api_key SET revoked_at = now() WHERE label = 'test' AND id = (
    SELECT max(id) FROM hub.api_key)`;
    const expired = await api.addKey(shop.id, { expiresAt: new Date(Date.now() - 1_000) });
    const foreign = await api.addKey(shop.id, { environment: "production" });
    for (const key of [revoked, expired, foreign, `${shop.key}x`, "nonsense"]) {
      const { status, body } = await api.call("GET", "/api/balance", { key });
      assertEquals([status, body.error], [401, "Unauthorized"]);
    }
  },
);

// an address may fail a hundred times a minute, and is not let in any more then
const FAILURES_OF_ONE = 50;

test("Authentication 2: a missing key is 401 on every route but the public ones", async () => {
  const routes = Object.values(OPERATIONS).filter(({ access }) => access.scope !== "public");
  for (let from = 0; from < routes.length; from += FAILURES_OF_ONE) {
    await using api = await testApi();
    for (const route of routes.slice(from, from + FAILURES_OF_ONE)) {
      const path = route.path.replaceAll(/\{\w+\}/g, "mer_1");
      const missing = await api.call(route.method, path);
      assertEquals([missing.status, missing.body.error], [401, "Authentication required"], path);
    }
  }
});

test("Authentication 1: only the hosted page, health and the reference need no key", () => {
  const open = Object.values(OPERATIONS).filter(({ access }) => access.scope === "public")
    .map(({ path }) => path);
  for (const path of open) {
    assertMatch(
      path,
      /^\/(healthz|readyz|metrics|deposit\/.*|api\/(deposit-page.*|docs.*|openapi\.json))$/,
    );
  }
});

/** True when a key with these permissions may pass a route's door. */
function mayEnter(access: Access, role: string, permissions: readonly string[]): boolean {
  // `write` is also for making addresses, and `admin:write` is every subject of an administrator
  const held = permissions.flatMap((name) =>
    name === "admin:write"
      ? [name, ...ADMIN_SUBJECTS]
      : name === "write"
      ? [name, "deposit"]
      : [name]
  );
  const has = (anyOf: readonly string[]) => anyOf.some((name) => held.includes(name));
  switch (access.scope) {
    case "public":
      return true;
    case "own":
      return role !== "ADMIN" && has(access.anyOf);
    case "admin":
      return role === "ADMIN" && has(access.anyOf);
    case "named":
    case "reseller":
    case "acting":
      return role === "ADMIN" ? has(access.adminAnyOf) : has(access.anyOf);
    default: {
      const never: never = access;
      return never;
    }
  }
}

/** Asks for a route with nothing in the body, so that nothing is ever done. */
function knock(route: Route, merchantId: string) {
  const path = route.path.replaceAll("{merchantId}", merchantId).replaceAll(/\{\w+\}/g, "none");
  return { path, body: route.body === null ? {} : { raw: "[" } };
}

shared("Authentication 3: each permission opens its routes and no others", async (api, t) => {
  const shop = await openShop(api);
  await api.sql`
    UPDATE book.merchant SET rate_limits = '{"withdrawals": 0, "deposits": 0, "transactions": 0}'
    WHERE merchant_id = ${shop.id}`;
  const keys: readonly (readonly [string, string, readonly string[]])[] = [
    ["nothing", "MERCHANT", []],
    ["read", "MERCHANT", ["read"]],
    ["write", "MERCHANT", ["write"]],
    ["payout", "MERCHANT", ["payout"]],
    // permissions of administrators mean nothing on a merchant's key
    ["admin names on a merchant's key", "MERCHANT", ["admin:read", "admin:write"]],
    ["admin:read", "ADMIN", ["admin:read"]],
    ["admin:write", "ADMIN", ["admin:write"]],
    ["deposit", "MERCHANT", ["deposit"]],
    ["admin:payments", "ADMIN", ["admin:payments"]],
    ["admin:keys", "ADMIN", ["admin:keys"]],
  ];
  for (const [name, role, permissions] of keys) {
    await t.step(name, async () => {
      const merchantId = role === "ADMIN" ? null : shop.id;
      const key = await api.addKey(merchantId, { permissions });
      for (const [id, route] of Object.entries(OPERATIONS)) {
        if (route.access.scope === "public" || route.body === null && route.method !== "GET") {
          continue;
        }
        const { path, body } = knock(route, shop.id);
        const { status } = await api.call(route.method, path, { key, ...body });
        if (mayEnter(route.access, role, permissions)) {
          assertNotEquals(status, 401, id);
          // the id in the path may still belong to no merchant, and the caller may be no reseller
          if (!route.path.includes("{") && route.access.scope !== "reseller") {
            assertNotEquals(status, 403, id);
          }
        } else assertEquals(status, 403, `${id} with ${name}`);
      }
    });
  }
});

rule("3: read, write and payout as the contract says", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  const key = (permissions: readonly string[]) => api.addKey(shop.id, { permissions });
  const [read, write, payout] = [await key(["read"]), await key(["write"]), await key(["payout"])];
  const post = async (by: string, path: string, body: unknown) =>
    (await api.call("POST", path, { key: by, body })).status;
  const deposit = { amount: "1", currency: "USDT", network: "TRX", source: "bank" };
  assertEquals(await post(read, "/api/deposits", deposit), 403);
  assertEquals(await post(payout, "/api/deposits", deposit), 403);
  assertEquals(await post(write, "/api/deposits", deposit), 201);
  assertEquals(await post(read, "/api/withdrawals", PAYOUT), 403);
  assertEquals(await post(write, "/api/withdrawals", PAYOUT), 201);
  assertEquals(await post(payout, "/api/withdrawals", PAYOUT), 201);
  assertEquals((await api.call("GET", "/api/balance", { key: payout })).status, 403);
  assertEquals((await api.call("GET", "/api/balance", { key: read })).status, 200);
});

rule("5: earnings and other records of a merchant need a key of that merchant", async (api) => {
  const [shop, stranger, office] = [
    await openShop(api),
    await openShop(api),
    await openOffice(api),
  ];
  for (const record of ["", "/earnings", "/charges", "/api-keys"]) {
    const path = `/api/merchants/${shop.id}${record}`;
    assertEquals((await shop.get(path)).status, 200, path);
    assertEquals((await office.get(path)).status, 200, path);
    const { status, body } = await stranger.get(path);
    assertEquals([status, body], [403, {
      error: "Insufficient permissions",
      code: "insufficient_permissions",
    }], path);
    const unknown = await stranger.get(`/api/merchants/mer_nobody${record}`);
    assertEquals(unknown.status, 403, "an unknown merchant looks like another one's");
  }
});

rule("7: RESELLER keys are pinned; admin routes need admin:write", async (api) => {
  const reseller = await openReseller(api, "100");
  const { body } = await reseller.post("/api/withdrawals", PAYOUT);
  assertEquals(body.status, "PENDING_APPROVAL");
  const path = `/api/admin/withdrawals/${body.withdrawalId}/approve`;
  const own = await reseller.post(path, {});
  assertEquals([own.status, own.body.error], [403, "Insufficient permissions"]);
  const reader = await api.addKey(null, { permissions: ["admin:read"] });
  assertEquals((await api.call("POST", path, { key: reader, body: {} })).status, 403);
  assertEquals((await reseller.get(`/api/resellers/${reseller.resellerId}`)).status, 200);
  const other = await openReseller(api, "1");
  assertEquals((await reseller.get(`/api/resellers/${other.resellerId}`)).status, 403);
});

rule("10: keys are created, rotated and revoked; shown once, never wider", async (api) => {
  const shop = await openShop(api);
  const path = `/api/merchants/${shop.id}/api-keys`;
  const created = await shop.post(path, { label: "server", permissions: ["read"] });
  assertEquals(created.status, 201);
  assertMatch(created.body.apiKey, /^sk_development_[0-9A-Za-z]+$/);
  const listed = await shop.get(path);
  assert(!JSON.stringify(listed.body).includes(created.body.apiKey), "shown once");
  const [stored] = await api.sql`
    SELECT encode(hash, 'hex') AS hash FROM hub.api_key WHERE id = ${created.body.id}`;
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(created.body.apiKey),
  );
  assertEquals(stored?.["hash"], new Uint8Array(digest).toHex(), "stored as SHA-256 only");
  const wide = await api.call("POST", path, {
    key: created.body.apiKey,
    body: { label: "x", permissions: ["read", "write"] },
  });
  assertEquals(wide.status, 403);
  const rotated = await shop.post(`${path}/${created.body.id}/rotate`, { overlapHours: 0 });
  assertEquals(rotated.status, 201);
  const balance = async (key: string) => (await api.call("GET", "/api/balance", { key })).status;
  assertEquals(await balance(rotated.body.apiKey), 200);
  assertEquals(await balance(created.body.apiKey), 401);
  const revoked = await api.call("DELETE", `${path}/${rotated.body.id}`, { key: shop.key });
  assertEquals(revoked.status, 200);
  assertEquals(await balance(rotated.body.apiKey), 401);
});
