import { assert, assertEquals } from "@std/assert";
import { createHmac } from "node:crypto";
import { mintApiKey } from "../../api/http/key_ring.ts";
import { ADMIN_SUBJECTS, hasAnyOf } from "../../api/http/permission.ts";
import { ROUTES } from "../../api/routes.ts";
import { INGEST_SECRET, testApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, SOMEWHERE, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("permissions");

/** Callers; every one of them calls every route. */
const CALLERS = [
  "nobody",
  "unknown key",
  "read only",
  "writer",
  "payer",
  "reseller",
  "other merchant",
  "suspended",
  "admin",
  "admin reader",
] as const;
type Caller = (typeof CALLERS)[number];

/** Callers who get past the checks; all others get a 401 or a 403. */
type Let = readonly Caller[];

const EVERYBODY: Let = CALLERS;
const READERS: Let = ["read only", "writer", "reseller", "other merchant", "suspended"];
const WRITERS: Let = ["writer", "reseller", "other merchant", "suspended"];
const PAYERS: Let = ["writer", "payer", "reseller", "other merchant", "suspended"];
const ADMINS: Let = ["admin"];
const ADMIN_READERS: Let = ["admin", "admin reader"];
const without = (list: Let, ...out: Caller[]): Let => list.filter((who) => !out.includes(who));
/** The merchant in the path: its own keys and administrators, no other merchant's. */
const own = (list: Let, admins: Let): Let => [...without(list, "other merchant"), ...admins];
/** The same where the merchant has to be active. */
const ownActive = (list: Let, admins: Let): Let => without(own(list, admins), "suspended");

/** The routes of the interface, written down apart from their code. */
const EXPECTED: Readonly<Record<string, Let>> = {
  "GET /healthz": EVERYBODY,
  "GET /readyz": EVERYBODY,
  "GET /metrics": EVERYBODY,
  "GET /api/openapi.json": EVERYBODY,
  "GET /api/docs": EVERYBODY,
  "GET /api/docs/{file}": EVERYBODY,
  "GET /api/deposit-page/status": EVERYBODY,
  "GET /api/deposit-page": EVERYBODY,
  "GET /deposit/{token}": EVERYBODY,

  "GET /api/withdrawals": READERS,
  "GET /api/deposit-address": READERS,
  "GET /api/deposit-url": READERS,
  "GET /api/deposits": READERS,
  "GET /api/exchange-rates": READERS,
  "GET /api/balance": READERS,
  "GET /api/transactions": READERS,
  "GET /api/settlements": READERS,
  "GET /api/settlements/{settlementId}": READERS,
  "GET /api/settlement-addresses": READERS,
  "GET /api/webhook-deliveries": READERS,

  "POST /api/withdrawals": without(PAYERS, "suspended"),
  "POST /api/withdrawals/{withdrawalId}/cancel": PAYERS,
  "POST /api/settlements": [...without(PAYERS, "suspended", "reseller"), "admin"],
  "POST /api/settlements/{settlementId}/cancel": without(PAYERS, "reseller"),
  "POST /api/settlement-addresses": without(PAYERS, "suspended", "reseller"),
  "DELETE /api/settlement-addresses/{addressId}": without(PAYERS, "reseller"),

  "POST /api/deposit-address": without(WRITERS, "suspended"),
  "POST /api/deposit-url": without(WRITERS, "suspended"),
  "POST /api/deposits": WRITERS,
  "POST /api/deposits/claim": WRITERS,
  "POST /api/webhook-deliveries/{eventId}/redeliver": WRITERS,
  "POST /api/webhook-deliveries/redeliver": WRITERS,

  "GET /api/merchants/{merchantId}": own(READERS, ADMIN_READERS),
  "GET /api/merchants/{merchantId}/earnings": own(READERS, ADMIN_READERS),
  "GET /api/merchants/{merchantId}/charges": own(READERS, ADMIN_READERS),
  "GET /api/merchants/{merchantId}/top-up-address": own(READERS, ADMIN_READERS),
  "GET /api/merchants/{merchantId}/api-keys": own(WRITERS, ADMIN_READERS),
  "PATCH /api/merchants/{merchantId}": ownActive(WRITERS, ADMINS),
  "POST /api/merchants/{merchantId}/webhook/test": own(WRITERS, ADMINS),
  "POST /api/merchants/{merchantId}/webhook/rotate-secret": ownActive(WRITERS, ADMINS),
  "POST /api/merchants/{merchantId}/webhook/redeliver": own(WRITERS, ADMINS),
  "POST /api/merchants/{merchantId}/webhook/resume": own(WRITERS, ADMINS),
  "GET /api/merchants/{merchantId}/webhook/status": own(READERS, ADMIN_READERS),
  "POST /api/merchants/{merchantId}/api-keys": ownActive(WRITERS, ADMINS),
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/rotate": ownActive(WRITERS, ADMINS),
  "DELETE /api/merchants/{merchantId}/api-keys/{keyId}": own(WRITERS, ADMINS),
  "GET /api/merchants/{merchantId}/reseller": ADMIN_READERS,
  "PUT /api/merchants/{merchantId}/reseller": ADMINS,

  "GET /api/resellers": ["reseller", ...ADMIN_READERS],
  "GET /api/resellers/{resellerId}": ["reseller", ...ADMIN_READERS],
  "GET /api/resellers/{resellerId}/merchants": ["reseller", ...ADMIN_READERS],
  "GET /api/resellers/{resellerId}/earnings": ["reseller", ...ADMIN_READERS],
  "PUT /api/resellers/{resellerId}": ["reseller", "admin"],
  "POST /api/resellers": ADMINS,

  "POST /api/webhook/event": ADMINS,
  "GET /api/admin/api-keys": ADMIN_READERS,
  "GET /api/admin/approvals": ADMIN_READERS,
  "GET /api/admin/deposits": ADMIN_READERS,
  "GET /api/admin/settlement-addresses": ADMIN_READERS,
  "GET /api/admin/audit": ADMIN_READERS,
  "GET /api/admin/merchants": ADMIN_READERS,
  "GET /api/admin/pairs": ADMIN_READERS,
  "GET /api/admin/settings": ADMIN_READERS,
  "GET /api/admin/treasury": ADMIN_READERS,
  "GET /api/admin/webhook-endpoints": ADMIN_READERS,
  "GET /api/admin/chains": ADMIN_READERS,
  "GET /api/admin/reconcile": ADMIN_READERS,
  "GET /api/admin/treasury/costs": ADMIN_READERS,
  "GET /api/admin/withdrawal-fees": ADMIN_READERS,
  "PUT /api/admin/withdrawal-fees": ADMIN_READERS,
  "POST /api/admin/withdrawal-fees": ADMINS,
  "POST /api/admin/api-keys": ADMINS,
  "POST /api/admin/api-keys/{keyId}/rotate": ADMINS,
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/approve": ADMINS,
  "DELETE /api/admin/api-keys/{keyId}": ADMINS,
  "POST /api/admin/merchants": ADMINS,
  "POST /api/admin/chains/{network}/rescan": ADMINS,
  "GET /api/admin/failover": ADMIN_READERS,
  "POST /api/admin/failover/declare": ADMINS,
  "POST /api/admin/failover/end": ADMINS,
  "POST /api/admin/failover/match": ADMINS,
  "POST /api/admin/failover/book": ADMINS,
  "POST /api/admin/failover/write-off": ADMINS,
  "GET /api/admin/inbox": ADMIN_READERS,
  "POST /api/admin/inbox/retry": ADMINS,
  "POST /api/admin/inbox/acknowledge": ADMINS,
  "POST /api/admin/inbox/discard": ADMINS,
  "POST /api/admin/sweeps/{sweepId}/settle": ADMINS,
  "POST /api/admin/withdrawals/{withdrawalId}/settle": ADMINS,
  "POST /api/admin/sweeps/write-off": ADMINS,
  "POST /api/admin/treasury/sender": ADMINS,
  "POST /api/admin/treasury/adopt": ADMINS,
  "POST /api/admin/treasury/not-ours": ADMINS,
  "POST /api/admin/treasury/cancel": ADMINS,
  "PUT /api/admin/pairs": ADMINS,
  "PUT /api/admin/settings": ADMINS,
  "POST /api/admin/withdrawals/{withdrawalId}/approve": ADMINS,
  "POST /api/admin/withdrawals/{withdrawalId}/reject": ADMINS,
  "POST /api/admin/settlements/{settlementId}/approve": ADMINS,
  "POST /api/admin/settlements/{settlementId}/reject": ADMINS,
  "POST /api/admin/deposits/{depositId}/confirm": ADMINS,
  "POST /api/admin/deposits/{depositId}/fail": ADMINS,
  "POST /api/admin/deposits/{depositId}/cancel": ADMINS,
  "POST /api/admin/settlement-addresses/{addressId}/activate": ADMINS,
  "POST /api/admin/settlement-addresses/{addressId}/deactivate": ADMINS,
};

/** Signature of an upstream system for an empty body. */
const SIGNED = createHmac("sha256", INGEST_SECRET).update("{}").digest("hex");

/** The 403 of the routes that have a text of their own. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  "POST /api/withdrawals": "Insufficient permissions to initiate a withdrawal",
};

Deno.test("every route is in the table of permissions, and nothing else is", () => {
  const routes = ROUTES.map((route) => `${route.method} ${route.path}`);
  assertEquals(routes.filter((route) => EXPECTED[route] === undefined), []);
  assertEquals(Object.keys(EXPECTED).filter((route) => !routes.includes(route)), []);
});

Deno.test("what changes something as an administrator belongs to one subject; admin:write is all", () => {
  for (const route of ROUTES) {
    const { access } = route;
    if (access.scope === "public" || access.scope === "own") continue;
    const staff = access.scope === "admin" ? access.anyOf : access.adminAnyOf;
    const name = `${route.method} ${route.path}`;
    const subjects = ADMIN_SUBJECTS.filter((subject) =>
      hasAnyOf({ permissions: [subject] }, staff)
    );
    const isRead = EXPECTED[name]?.includes("admin reader") === true;
    // who reads alone may read everything, and who may change one subject reads with `admin:read`
    assertEquals(subjects.length, isRead ? 0 : 1, name);
    assertEquals(hasAnyOf({ permissions: ["admin:read"] }, staff), isRead, name);
    assert(isRead || hasAnyOf({ permissions: ["admin:write"] }, staff), name);
  }
});

Deno.test("a key for addresses alone makes addresses and pages, and pays nothing out", () => {
  const open = ROUTES.filter(({ access }) =>
    access.scope !== "public" && hasAnyOf({ permissions: ["deposit"] }, access.anyOf)
  ).map(({ method, path }) => `${method} ${path}`);
  assertEquals(open.toSorted(), ["POST /api/deposit-address", "POST /api/deposit-url"]);
  for (const route of open) assert(EXPECTED[route]?.includes("writer"), route);
});

test("every caller gets past the checks of exactly its routes", async (t) => {
  // a minute per route, so that no limit is what turns a caller away
  let now = Date.now();
  await using api = await testApi({ clock: () => now });
  const account = await api.addMerchant();
  const other = await api.addMerchant();
  const suspended = await api.addMerchant();
  const line = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${suspended.id}`;
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_line', ${line.id}, 'Line', ${SOMEWHERE}, 'TRX')`;
  const keys: Readonly<Record<Caller, string | undefined>> = {
    "nobody": undefined,
    "unknown key": mintApiKey("development"),
    "read only": await api.addKey(account.id, { permissions: ["read"] }),
    "writer": await api.addKey(account.id, { permissions: ["read", "write"] }),
    "payer": await api.addKey(account.id, { permissions: ["payout"] }),
    "reseller": await api.addKey(line.id, { role: "RESELLER" }),
    "other merchant": other.key,
    "suspended": suspended.key,
    "admin": await api.addKey(null, { permissions: ["admin:read", "admin:write"] }),
    "admin reader": await api.addKey(null, { permissions: ["admin:read"] }),
  };
  // its own merchant for everybody but the one who tries another's
  const named = (caller: Caller) =>
    caller === "suspended" ? suspended.id : caller === "reseller" ? line.id : account.id;
  for (const route of ROUTES) {
    const name = `${route.method} ${route.path}`;
    await t.step(name, async () => {
      now += 60_000;
      for (const caller of CALLERS) {
        const path = route.path.replace("{merchantId}", named(caller))
          .replace("{resellerId}", "rsl_line").replaceAll(/\{\w+\}/g, "unknown");
        const key = keys[caller];
        const answer = await api.call(route.method, path, {
          ...(key === undefined ? {} : { key }),
          ...(route.method === "GET" || route.method === "DELETE" ? {} : { body: {} }),
          // signed for everybody: it is the key that decides
          headers: { "x-signature": SIGNED, "x-timestamp": String(now) },
        });
        const { status, body } = answer;
        const said = `${caller}: ${status} ${JSON.stringify(body)}`;
        if (EXPECTED[name]?.includes(caller)) {
          assert(status !== 401 && status !== 403 && status < 500, said);
        } else if (caller === "nobody") {
          assertEquals([status, body.error], [401, "Authentication required"], said);
        } else if (caller === "unknown key") {
          assertEquals([status, body.error], [401, "Unauthorized"], said);
        } else {
          const isInactive = caller === "suspended" && route.needsActiveMerchant &&
            !EXPECTED[name]?.includes("suspended") && EXPECTED[name]?.includes("writer");
          const text = isInactive
            ? "Merchant account is not active"
            : FORBIDDEN[name] ?? "Insufficient permissions";
          assertEquals([status, body.error], [403, text], said);
        }
      }
    });
  }
});

test("a key that is revoked, expired, elsewhere or of another environment is unauthorized", async () => {
  await using api = await testApi({ trustedProxies: ["127.0.0.1"] });
  const { id } = await api.addMerchant();
  const call = (key: string, from?: string) =>
    api.call("GET", "/api/balance", {
      key,
      ...(from === undefined ? {} : { headers: { "x-forwarded-for": from } }),
    });
  const past = new Date(Date.now() - 1_000);
  for (
    const key of [
      await api.addKey(id, { expiresAt: past }),
      await api.addKey(id, { environment: "staging" }),
      await api.addKey(id, { ipAllowlist: ["203.0.113.0/24"] }),
      "sk_development_short",
      "Bearer",
    ]
  ) {
    const { status, body } = await call(key);
    assertEquals(status, 401);
    assertEquals(body.error, key === "Bearer" ? "Authentication required" : "Unauthorized");
  }
  const bound = await api.addKey(id, { ipAllowlist: ["203.0.113.0/24", "2001:db8::1"] });
  for (
    const [from, status] of [["203.0.113.7", 200], ["198.51.100.7", 401], ["2001:db8::1", 200]]
  ) {
    assertEquals((await call(bound, String(from))).status, status);
  }
  const raw = await api.addKey(id);
  assertEquals((await call(`Bearer ${raw}`)).status, 200);
});

shared("a record of another merchant is not found, whatever is wanted of it", async (api, t) => {
  const { id, key } = await api.addMerchant("100");
  const stranger = await api.addMerchant("100");
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_a', ${id}, 'A', ${SOMEWHERE}, 'TRX')`;
  const reseller = await api.addKey(id, { role: "RESELLER" });
  const made = await api.call("POST", "/api/withdrawals", {
    key: reseller,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  const listed = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: "mine" },
  });
  await api.sql`UPDATE book.settlement_threshold SET amount = 1`;
  await api.sql`UPDATE book.settlement_address SET active = true, approved_by = 'key_admin'`;
  const settled = await api.call("POST", "/api/settlements", {
    key,
    body: {
      currency: "USDT",
      requestedAmount: "5",
      destinationAddress: SOMEWHERE,
      destinationNetwork: "TRX",
    },
  });
  const paths: readonly [string, string][] = [
    ["POST", `/api/withdrawals/${made.body.withdrawalId}/cancel`],
    ["POST", `/api/settlements/${settled.body.id}/cancel`],
    ["DELETE", `/api/settlement-addresses/${listed.body.id}`],
  ];
  for (const [method, path] of paths) {
    await t.step(`${method} ${path.replace(/\w+_[\w-]+/, "...")}`, async () => {
      const theirs = await api.call(method, path, { key: stranger.key });
      assertEquals([theirs.status, theirs.body.error], [404, "Not found"]);
      const mine = await api.call(method, path, { key });
      assert(mine.status !== 404, `${mine.status}`);
    });
  }
});

shared("a suspended merchant reads, is paid, and gets its money booked", async (api) => {
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const { id, key } = await api.addMerchant("100");
  const suspend = await api.call("PATCH", `/api/merchants/${id}`, {
    key: admin,
    body: { status: "SUSPENDED" },
  });
  assertEquals(suspend.status, 200);
  const payout = { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE };
  const refused = await api.call("POST", "/api/withdrawals", { key, body: payout });
  assertEquals([refused.status, refused.body.error], [403, "Merchant account is not active"]);
  await addTransfer(api.sql, id, "7");
  api.journal.wake(id);
  await until(async () => {
    const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
    return body.available === "107";
  });
  const booked = await api.call("POST", "/api/deposits", {
    key,
    body: { amount: "1", currency: "USDT", network: "TRX", source: "bank" },
  });
  assertEquals(booked.status, 201);
  await api.call("PATCH", `/api/merchants/${id}`, { key: admin, body: { status: "ACTIVE" } });
  assertEquals((await api.call("POST", "/api/withdrawals", { key, body: payout })).status, 201);
});
