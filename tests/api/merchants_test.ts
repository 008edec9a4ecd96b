import { assertEquals, assertMatch } from "@std/assert";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("merchants");

shared("a profile shows the settings and never the secret", async (api) => {
  const { id, key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  for (const reader of [key, admin]) {
    const { status, body } = await api.call("GET", `/api/merchants/${id}`, { key: reader });
    assertEquals(status, 200);
    const { createdAt, ...rest } = body;
    assertMatch(createdAt, /Z$/);
    assertEquals(rest, {
      id,
      name: "Test",
      status: "ACTIVE",
      depositCommissionRate: "0",
      directDepositFee: "1",
      activationFee: "0.5",
      webhookUrl: null,
      webhookEnabled: false,
      webhookEvents: null,
      webhookTimeout: 10_000,
      webhookRetryCount: 3,
      successUrl: null,
      failureUrl: null,
      pageOrigins: null,
      logoColor: null,
      rateLimits: {},
      resellerId: null,
    });
  }
});

shared("another or unknown merchant's profile is 403; an administrator finds 404", async (api) => {
  const { key } = await api.addMerchant();
  const other = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  for (const id of [other.id, "mer_unknown", "%00", "x%ff"]) {
    const answer = await api.call("GET", `/api/merchants/${id}`, { key });
    assertEquals([answer.status, answer.body], [403, {
      error: "Insufficient permissions",
      code: "insufficient_permissions",
    }]);
    const patched = await api.call("PATCH", `/api/merchants/${id}`, {
      key,
      body: { webhookEnabled: true },
    });
    assertEquals(patched.status, 403);
  }
  const missing = await api.call("GET", "/api/merchants/mer_unknown", { key: admin });
  assertEquals([missing.status, missing.body], [404, { error: "Not found", code: "not_found" }]);
});

shared(
  "a merchant changes its webhook and redirect fields, and what is not named stays",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const patch = async (body: object) =>
      await api.call("PATCH", `/api/merchants/${id}`, { key, body });
    const changes = {
      webhookUrl: "http://127.0.0.1:9999/hook",
      webhookEnabled: true,
      webhookEvents: ["deposit.confirmed"],
      webhookTimeout: 1_000,
      webhookRetryCount: 0,
      successUrl: "https://shop.example/thanks",
      failureUrl: "https://shop.example/sorry",
      pageOrigins: ["https://shop.example", "https://[2606:4700::1]:8443"],
      logoColor: "#0b6e4f",
    };
    const first = await patch(changes);
    assertEquals(first.status, 200);
    const before = first.body;
    for (const [field, value] of Object.entries(changes)) assertEquals(before[field], value);
    const second = await patch({ webhookEvents: null, successUrl: null, unknownField: 1 });
    assertEquals(second.body, { ...before, webhookEvents: null, successUrl: null });
    const third = await patch({ webhookEvents: [] });
    assertEquals(third.body.webhookEvents, []);
  },
);

shared("status, rates, fees and limits are not the merchant's to change", async (api) => {
  const { id, key } = await api.addMerchant();
  for (
    const body of [
      { status: "ACTIVE" },
      { depositCommissionRate: "0" },
      { directDepositFee: "0" },
      { rateLimits: { balance: 0 } },
      { name: "Mine", webhookEnabled: true },
      { resellerId: null },
    ]
  ) {
    const answer = await api.call("PATCH", `/api/merchants/${id}`, { key, body });
    assertEquals([answer.status, answer.body], [403, {
      error: "Insufficient permissions",
      code: "insufficient_permissions",
    }]);
  }
  const [row] = await api.sql`SELECT webhook_enabled FROM book.merchant WHERE merchant_id = ${id}`;
  assertEquals(row?.webhook_enabled, false);
});

shared(
  "an administrator changes everything, effective at once, and mistypes nothing",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const admin = await api.addKey(null, { permissions: ["admin:write"] });
    const patch = (body: object) => api.call("PATCH", `/api/merchants/${id}`, { key: admin, body });
    await api.call("GET", "/api/balance", { key });
    const changes = {
      name: "New name",
      status: "SUSPENDED",
      depositCommissionRate: "0.015",
      directDepositFee: "2.5",
      rateLimits: { balance: 5, deposits: null, withdrawals: 0 },
      webhookTimeout: 5_000,
    };
    const { status, body } = await patch({ ...changes, depositCommissionRate: "0.0150" });
    assertEquals(status, 200);
    for (const [field, value] of Object.entries(changes)) assertEquals(body[field], value);
    const link = await patch({ successUrl: "https://SHOP.example/a/../b\u001b c" });
    assertEquals(link.body.successUrl, "https://shop.example/b%1B%20c", "kept as it was parsed");
    const suspended = await api.call("POST", "/api/withdrawals", { key, body: {} });
    assertEquals(suspended.status, 403);
    for (
      const fault of [
        { nonsense: 1 },
        { status: "GONE" },
        { depositCommissionRate: "1.1" },
        { depositCommissionRate: 0.1 },
        { directDepositFee: "-1" },
        { rateLimits: { other: 1 } },
        { rateLimits: { balance: -1 } },
        { webhookSecret: "whsec_x" },
      ]
    ) {
      const answer = await patch(fault);
      assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
    }
    const missing = await api.call("PATCH", "/api/merchants/mer_unknown", {
      key: admin,
      body: { name: "x" },
    });
    assertEquals([missing.status, missing.body], [404, { error: "Not found", code: "not_found" }]);
  },
);

test("URLs that are not called or not followed are a 422, other faults a 400", async (t) => {
  await using api = await testApi({
    urlRules: { allowLoopback: false },
    names: new NameLookups({
      resolve: (host, _options, done) =>
        host === "unknown.example" ? done(new Error("ENOTFOUND"), []) : done(null, [{
          address: host === "inside.example" ? "10.0.0.8" : "8.8.8.8",
          family: 4,
        }]),
    }),
  });
  const { id, key } = await api.addMerchant();
  const rows: readonly [object, number, string | null][] = [
    [{ webhookUrl: "https://shop.example/hook" }, 200, null],
    [{ webhookUrl: "https://unknown.example/hook" }, 200, null],
    [{ webhookUrl: "https://inside.example/hook" }, 422, "webhookUrl"],
    [{ webhookUrl: "http://shop.example/" }, 422, "webhookUrl"],
    [{ webhookUrl: "https://u:p@shop.example/" }, 422, "webhookUrl"],
    [{ webhookUrl: "https://127.0.0.1/" }, 422, "webhookUrl"],
    [{ webhookUrl: "https://billing/" }, 422, "webhookUrl"],
    [{ webhookUrl: "https://billing.internal/" }, 422, "webhookUrl"],
    [{ webhookUrl: "nonsense" }, 422, "webhookUrl"],
    [{ successUrl: "javascript:alert(1)" }, 422, "successUrl"],
    [{ failureUrl: "http://shop.example/" }, 422, "failureUrl"],
    [{ pageOrigins: ["https://shop.example"] }, 200, null],
    [{ pageOrigins: [] }, 200, null],
    [{ pageOrigins: ["http://shop.example"] }, 422, "pageOrigins"],
    [{ pageOrigins: ["https://shop.example/"] }, 422, "pageOrigins"],
    [{ pageOrigins: ["https://*.shop.example"] }, 422, "pageOrigins"],
    [{ pageOrigins: ["https://a;b.example"] }, 422, "pageOrigins"],
    [{ pageOrigins: ["https://shop.example 'self'"] }, 422, "pageOrigins"],
    [{ pageOrigins: "https://shop.example" }, 400, "pageOrigins"],
    [{ logoColor: "#FFAA00" }, 200, null],
    [{ logoColor: "red" }, 400, "logoColor"],
    [{ webhookUrl: 5 }, 400, "webhookUrl"],
    [{ webhookEnabled: "yes" }, 400, "webhookEnabled"],
    [{ webhookTimeout: 999 }, 400, "webhookTimeout"],
    [{ webhookTimeout: 30_001 }, 400, "webhookTimeout"],
    [{ webhookTimeout: 1_000.5 }, 400, "webhookTimeout"],
    [{ webhookRetryCount: 21 }, 400, "webhookRetryCount"],
    [{ webhookRetryCount: -1 }, 400, "webhookRetryCount"],
    [{ webhookEvents: "deposit.confirmed" }, 400, "webhookEvents"],
  ];
  for (const [body, status, field] of rows) {
    await t.step(JSON.stringify(body), async () => {
      const answer = await api.call("PATCH", `/api/merchants/${id}`, { key, body });
      assertEquals(answer.status, status);
      if (field === null) return;
      assertEquals(
        answer.body.error,
        status === 422 ? "Validation failed" : "Invalid request data",
      );
      assertEquals(answer.body.details[0].path[0], field);
    });
  }
});
