import { assert, assertEquals, assertMatch } from "@std/assert";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("admin merchants");
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };

shared("an administrator makes a merchant, who can be given a key and works", async (api) => {
  const admin = await api.addKey(null, ADMIN);
  const made = await api.call("POST", "/api/admin/merchants", {
    key: admin,
    body: { name: " Shop ", depositCommissionRate: "0.010", directDepositFee: "2.50" },
  });
  assertEquals(made.status, 201);
  const { webhookSecret, ...profile } = made.body;
  assertMatch(webhookSecret, /^whsec_/);
  assertMatch(profile.id, /^mer_/);
  assertEquals(profile.name, "Shop");
  assertEquals(profile.status, "ACTIVE");
  assertEquals(profile.depositCommissionRate, "0.01");
  assertEquals(profile.directDepositFee, "2.5");
  const read = await api.call("GET", `/api/merchants/${profile.id}`, { key: admin });
  assertEquals([read.status, read.body], [200, profile]);
  const issued = await api.call("POST", `/api/merchants/${profile.id}/api-keys`, {
    key: admin,
    body: { label: "first", permissions: ["read", "write", "payout"] },
  });
  assertEquals(issued.status, 201);
  const address = await api.call("POST", "/api/deposit-address", {
    key: issued.body.apiKey,
    body: { network: "TRX", identifier: "c1" },
  });
  assertEquals(address.status, 201);
  const [row] = await api.sql`
    SELECT action, actor, subject, after FROM book.audit WHERE merchant_id = ${profile.id}`;
  assertEquals([row?.action, row?.subject], ["merchant.create", profile.id]);
  assert(!JSON.stringify(row).includes(webhookSecret));
});

test("a merchant is not made of what is wrong, missing or unknown, nor by others", async (t) => {
  await using api = await testApi({ urlRules: { allowLoopback: false } });
  const admin = await api.addKey(null, ADMIN);
  const reader = await api.addKey(null, { permissions: ["admin:read"] });
  const { key } = await api.addMerchant();
  const rows: readonly [string, object, number][] = [
    [key, { name: "x" }, 403],
    [reader, { name: "x" }, 403],
    [admin, {}, 400],
    [admin, { name: " " }, 400],
    [admin, { name: "x", depositCommissionRate: "1.1" }, 400],
    [admin, { name: "x", depositCommissionRate: 0.1 }, 400],
    [admin, { name: "x", directDepositFee: "-1" }, 400],
    [admin, { name: "x", rateLimits: { nonsense: 1 } }, 400],
    [admin, { name: "x", unknown: 1 }, 400],
    [admin, { name: "x", webhookUrl: "http://127.0.0.1/" }, 422],
  ];
  for (const [caller, body, status] of rows) {
    await t.step(`${status} ${JSON.stringify(body)}`, async () => {
      const answer = await api.call("POST", "/api/admin/merchants", { key: caller, body });
      assertEquals(answer.status, status);
    });
  }
  const [count] = await api.sql`SELECT count(*)::int AS n FROM book.merchant`;
  assertEquals(count?.n, 1);
});

test("merchants are listed newest first, by status and by part of their name", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  for (const name of ["Alpha", "Beta", "Gamma"]) {
    const body = { name, status: name === "Beta" ? "SUSPENDED" : "ACTIVE" };
    await api.call("POST", "/api/admin/merchants", { key: admin, body });
  }
  const list = async (query: string) => {
    const { status, body } = await api.call("GET", `/api/admin/merchants${query}`, { key: admin });
    assertEquals(status, 200);
    return [body.merchants.map((row: { name: string }) => row.name), body.pagination.total];
  };
  assertEquals(await list(""), [["Gamma", "Beta", "Alpha"], 3]);
  assertEquals(await list("?page=2&limit=2"), [["Alpha"], 3]);
  assertEquals(await list("?status=SUSPENDED"), [["Beta"], 1]);
  assertEquals(await list("?name=AM"), [["Gamma"], 1]);
});

test("what an administrator or the merchant changes of a merchant is in the audit, before and after", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  const { id, key } = await api.addMerchant();
  const own = await api.call("PATCH", `/api/merchants/${id}`, {
    key,
    body: { webhookEnabled: true, successUrl: "https://shop.example/done" },
  });
  assertEquals(own.status, 200);
  const patched = await api.call("PATCH", `/api/merchants/${id}`, {
    key: admin,
    body: { status: "SUSPENDED", directDepositFee: "3" },
  });
  assertEquals(patched.status, 200);
  const trail = await api.sql`SELECT * FROM book.audit ORDER BY id`;
  assertEquals(trail.length, 2);
  const [first, row] = trail;
  assertEquals(first?.before, { webhookEnabled: false, successUrl: null });
  assertEquals(first?.after, {
    webhookEnabled: true,
    successUrl: "https://shop.example/done",
  });
  assertEquals(row?.action, "merchant.update");
  assertEquals(row?.before, { status: "ACTIVE", directDepositFee: "1" });
  assertEquals(row?.after, { status: "SUSPENDED", directDepositFee: "3" });
  assertEquals(row?.request_id, patched.headers.get("x-request-id"));
  const rotated = await api.call("POST", `/api/merchants/${id}/webhook/rotate-secret`, {
    key: admin,
  });
  assertEquals(rotated.status, 200);
  const lines = await api.sql`SELECT * FROM book.audit ORDER BY id`;
  assertEquals(lines.map(({ action }) => action), [
    "merchant.update",
    "merchant.update",
    "merchant.rotate-webhook-secret",
  ]);
  assert(!JSON.stringify(lines).includes(rotated.body.webhookSecret));
});
