import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { KEY_PATTERN, mintApiKey, parseApiKey } from "../../api/http/key_ring.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("api keys");

const ALL = ["read", "write", "payout", "admin:read", "admin:write"];

shared("a key is shown once, works at once, and is listed without itself", async (api) => {
  const { id, key } = await api.addMerchant();
  const path = `/api/merchants/${id}/api-keys`;
  const made = await api.call("POST", path, {
    key,
    body: { label: "till", permissions: ["read"], ipAllowlist: ["127.0.0.1", "10.0.0.0/8"] },
  });
  assertEquals(made.status, 201);
  assertMatch(made.body.apiKey, /^sk_development_[0-9A-Za-z]{49}$/);
  assertMatch(made.body.id, /^key_/);
  const { apiKey, createdAt, id: keyId, ...rest } = made.body;
  assertMatch(createdAt, /Z$/);
  assertEquals(rest, {
    label: "till",
    permissions: ["read"],
    role: "MERCHANT",
    needsApproval: false,
    ipAllowlist: ["127.0.0.1", "10.0.0.0/8"],
    expiresAt: null,
  });
  assertEquals((await api.call("GET", "/api/balance", { key: apiKey })).status, 200);
  const listed = await api.call("GET", path, { key });
  assertEquals(listed.status, 200);
  assertEquals(listed.body.apiKeys.length, 2);
  assertEquals(listed.body.apiKeys[0].id, keyId);
  assert(!JSON.stringify(listed.body).includes(apiKey));
  await until(async () => {
    const { body } = await api.call("GET", path, { key });
    return body.apiKeys[0].lastUsedAt !== null;
  });
  const [row] = await api.sql`SELECT * FROM hub.api_key WHERE id = ${keyId}`;
  assert(!JSON.stringify(row).includes(apiKey.slice(20)));
});

shared("a key never grants more than the key that made it", async (api, t) => {
  const { id } = await api.addMerchant();
  const path = `/api/merchants/${id}/api-keys`;
  const soon = new Date(Date.now() + 3_600_000);
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const keys = {
    writer: await api.addKey(id, { permissions: ["read", "write"] }),
    reader: await api.addKey(id, { permissions: ["read"] }),
    reseller: await api.addKey(id, { permissions: ["read", "write"], role: "RESELLER" }),
    brief: await api.addKey(id, { permissions: ["read", "write"], expiresAt: soon }),
    bound: await api.addKey(id, {
      permissions: ["read", "write"],
      ipAllowlist: ["127.0.0.0/8"],
    }),
    admin: await api.addKey(null, { permissions: ["read", "admin:write"] }),
    adminReader: await api.addKey(null, { permissions: ["admin:read"] }),
  };
  const rows: readonly [keyof typeof keys, object, number][] = [
    ["writer", { permissions: ["read"] }, 201],
    ["writer", { permissions: ["read", "write"] }, 201],
    ["writer", { permissions: ["payout"] }, 403],
    ["writer", { permissions: ["read"], role: "RESELLER" }, 201],
    ["writer", { permissions: ["admin:write"] }, 400],
    ["writer", { permissions: ["read"], role: "ADMIN" }, 400],
    ["writer", { permissions: [] }, 400],
    ["writer", { permissions: ["read", "read"] }, 400],
    ["writer", { permissions: ["read"], ipAllowlist: ["everywhere"] }, 400],
    ["writer", { permissions: ["read"], ipAllowlist: ["1"] }, 400],
    ["writer", { permissions: ["read"], expiresAt: "2020-01-01T00:00:00Z" }, 400],
    ["writer", { permissions: ["read"], surprise: 1 }, 201],
    ["reader", { permissions: ["read"] }, 403],
    ["reseller", { permissions: ["read"] }, 201],
    ["reseller", { permissions: ["read"], role: "MERCHANT" }, 403],
    ["brief", { permissions: ["read"], expiresAt: null }, 403],
    ["brief", { permissions: ["read"], expiresAt: later }, 403],
    ["brief", { permissions: ["read"] }, 201],
    ["bound", { permissions: ["read"], ipAllowlist: null }, 403],
    ["bound", { permissions: ["read"], ipAllowlist: ["0.0.0.0/0"] }, 403],
    ["bound", { permissions: ["read"], ipAllowlist: ["127.0.0.1"] }, 201],
    ["bound", { permissions: ["read"] }, 201],
    ["admin", { permissions: ["read"] }, 201],
    ["admin", { permissions: ["payout"] }, 403],
    ["admin", { permissions: ["read"], surprise: 1 }, 400],
    ["adminReader", { permissions: ["read"] }, 403],
  ];
  for (const [who, body, status] of rows) {
    await t.step(`${who} ${JSON.stringify(body)}`, async () => {
      const answer = await api.call("POST", path, {
        key: keys[who],
        body: { label: "new", ...body },
      });
      assertEquals(answer.status, status);
      if (status !== 201) return;
      if (who === "reseller") assertEquals(answer.body.role, "RESELLER");
      if (who === "brief") assertEquals(answer.body.expiresAt, soon.toISOString());
      if (who === "bound") assert(answer.body.ipAllowlist.length === 1);
    });
  }
});

test("a rotated key has the same rights, and the old one lives on for the overlap only", async () => {
  let ahead = 0;
  await using timed = await testApi({ clock: () => Date.now() + ahead });
  const { id, key } = await timed.addMerchant();
  const weak = await timed.addKey(id, { permissions: ["read", "write"] });
  const path = `/api/merchants/${id}/api-keys`;
  const made = await timed.call("POST", path, {
    key,
    body: { label: "till", permissions: ["read", "payout"] },
  });
  const old = made.body.apiKey;
  const refused = await timed.call("POST", `${path}/${made.body.id}/rotate`, { key: weak });
  assertEquals(refused.status, 403);
  const bad = await timed.call("POST", `${path}/${made.body.id}/rotate`, {
    key,
    body: { overlapHours: 169 },
  });
  assertEquals(bad.status, 400);
  const rotated = await timed.call("POST", `${path}/${made.body.id}/rotate`, { key });
  assertEquals(rotated.status, 201);
  assertEquals(rotated.body.permissions, ["read", "payout"]);
  assertEquals(rotated.body.previous.id, made.body.id);
  const overlap = Date.parse(rotated.body.previous.expiresAt) - Date.parse(rotated.body.createdAt);
  assertEquals(overlap, 24 * 3_600_000);
  const works = async (text: string) =>
    (await timed.call("GET", "/api/balance", { key: text })).status;
  assertEquals([await works(old), await works(rotated.body.apiKey)], [200, 200]);
  ahead = 24 * 3_600_000 + 1_000;
  assertEquals([await works(old), await works(rotated.body.apiKey)], [401, 200]);
  const again = await timed.call("POST", `${path}/${made.body.id}/rotate`, { key });
  assertEquals(again.status, 409);
  const now = await timed.call("POST", `${path}/${rotated.body.id}/rotate`, {
    key,
    body: { overlapHours: 0 },
  });
  assertEquals([now.status, await works(rotated.body.apiKey)], [201, 401]);
});

test("a revoked key ends at once; another merchant's key is not found", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const other = await api.addMerchant();
  const path = `/api/merchants/${id}/api-keys`;
  const made = await api.call("POST", path, { key, body: { label: "x", permissions: ["read"] } });
  assertEquals((await api.call("GET", "/api/balance", { key: made.body.apiKey })).status, 200);
  const theirs = `/api/merchants/${other.id}/api-keys/${made.body.id}`;
  assertEquals((await api.call("DELETE", theirs, { key: other.key })).status, 404);
  assertEquals((await api.call("DELETE", theirs, { key })).status, 403);
  const gone = await api.call("DELETE", `${path}/${made.body.id}`, { key });
  assertEquals([gone.status, gone.body.id], [200, made.body.id]);
  assertEquals((await api.call("GET", "/api/balance", { key: made.body.apiKey })).status, 401);
  assertEquals((await api.call("DELETE", `${path}/${made.body.id}`, { key })).status, 404);
  const trail = await api.sql`SELECT action, refused FROM hub.audit ORDER BY id`;
  assertEquals(trail.map((row) => row.action), ["api-key.create", "api-key.revoke"]);
});

test("administrators' keys are managed by administrators, and the last one stays", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ALL });
  const { key } = await api.addMerchant();
  const path = "/api/admin/api-keys";
  assertEquals((await api.call("GET", path, { key })).status, 403);
  const [first] = (await api.call("GET", path, { key: admin })).body.apiKeys;
  assertEquals((await api.call("DELETE", `${path}/${first.id}`, { key: admin })).status, 409);
  const made = await api.call("POST", path, {
    key: admin,
    body: { label: "second", permissions: ["admin:read", "admin:write"] },
  });
  assertEquals([made.status, made.body.role], [201, "ADMIN"]);
  const more = await api.call("POST", path, {
    key: made.body.apiKey,
    body: { label: "third", permissions: ALL },
  });
  assertEquals(more.status, 403);
  const unknown = await api.call("POST", path, {
    key: admin,
    body: { label: "x", permissions: ["read"], role: "ADMIN" },
  });
  assertEquals(unknown.status, 400);
  assertEquals((await api.call("DELETE", `${path}/${first.id}`, { key: admin })).status, 200);
  assertEquals((await api.call("GET", path, { key: admin })).status, 401);
});

shared("a merchant has 25 keys that live at most, made at once or one by one", async (api) => {
  const { id, key } = await api.addMerchant();
  const path = `/api/merchants/${id}/api-keys`;
  const body = { label: "x", permissions: ["read"] };
  const make = () => api.call("POST", path, { key, body });
  const made = await Promise.all(Array.from({ length: 30 }, make));
  const kept = made.filter(({ status }) => status === 201);
  assertEquals(kept.length, 24);
  const refused = made.find(({ status }) => status !== 201);
  assertEquals([refused?.status, refused?.body.error], [409, "Conflict"]);
  const [first] = kept;
  assertEquals((await api.call("DELETE", `${path}/${first?.body.id}`, { key })).status, 200);
  assertEquals([(await make()).status, (await make()).status], [201, 409]);
  // keys that are being replaced live on for a while beside their successors, also of these so many
  const rotated = await Promise.all(
    Array.from(
      { length: 30 },
      () => api.call("POST", `${path}/${kept[1]?.body.id}/rotate`, { key }),
    ),
  );
  assertEquals(rotated.filter(({ status }) => status === 201).length, 25);
  await assertRejects(() => api.addKey(id), Error, "50 living keys at most");
  assertEquals((await api.call("GET", path, { key })).status, 200);
  const { key: other } = await api.addMerchant();
  assertEquals((await api.call("GET", "/api/balance", { key: other })).status, 200);
});

shared(
  "labels hold no control characters, and a key's range and end can be compared",
  async (api, t) => {
    const { id, key } = await api.addMerchant();
    const rows: readonly [string, object][] = [
      ["an escape", { label: "a\u001b[2Jb" }],
      ["a line", { label: "a\nb" }],
      ["a C1 control", { label: "a\u009b2Jb" }],
      ["what turns the line", { label: "a\u202eb" }],
      ["a zone", { ipAllowlist: ["fe80::1%eth0"] }],
      ["a range with a zone", { ipAllowlist: ["fe80::1%eth0/64"] }],
      ["year 10000 in UTC", { expiresAt: "9999-12-31T23:59:59-23:59" }],
      ["year 0", { expiresAt: "0000-01-01T00:00:00Z" }],
    ];
    for (const [name, change] of rows) {
      await t.step(name, async () => {
        const body = { label: "x", permissions: ["read"], ...change };
        const answer = await api.call("POST", `/api/merchants/${id}/api-keys`, { key, body });
        assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
      });
    }
  },
);

Deno.test("a minted key names its environment and carries 256 bits and a checksum", () => {
  for (const environment of ["development", "staging", "production"] as const) {
    const key = mintApiKey(environment);
    assertMatch(key, new RegExp(`^sk_${environment}_[0-9A-Za-z]{49}$`));
    assertMatch(key, KEY_PATTERN);
    assertEquals(parseApiKey(key), environment);
    assertNotEquals(key, mintApiKey(environment));
  }
});

Deno.test("a key with any one character changed is no key", () => {
  const key = mintApiKey("development");
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === "A" ? "B" : "A";
    assertEquals(parseApiKey(key.slice(0, i) + other + key.slice(i + 1)), null, `at ${i}`);
  }
  for (const text of ["", "sk_development_", key + "0", key.slice(1), ` ${key}`, `${key}\n`]) {
    assertEquals(parseApiKey(text), null);
  }
});
