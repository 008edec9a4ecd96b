import { assert, assertEquals, assertMatch } from "@std/assert";
import { mintApiKey } from "../../api/api_key.ts";
import { type CallOptions, testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

type Api = Awaited<ReturnType<typeof testApi>>;

async function statuses(
  api: Api,
  count: number,
  method: string,
  path: string,
  options: CallOptions,
): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push((await api.call(method, path, options)).status);
  return found;
}

test("each category has its published limit, counted per key, refused ones too", async (t) => {
  const start = Date.now();
  let now = start;
  await using api = await testApi({ clock: () => now });
  const { id, key } = await api.addMerchant();
  const rows: readonly [string, string, number, number][] = [
    ["POST", "/api/withdrawals", 50, 400],
    ["POST", "/api/deposit-address", 100, 400],
    ["GET", "/api/withdrawals", 500, 200],
    ["GET", "/api/balance", 1_000, 200],
  ];
  for (const [method, path, limit, status] of rows) {
    await t.step(`${method} ${path}`, async () => {
      const options = { key, ...(method === "POST" ? { body: {} } : {}) };
      const first = await api.call(method, path, options);
      assertEquals(first.status, status);
      assertEquals(first.headers.get("ratelimit-limit"), String(limit));
      assertEquals(first.headers.get("ratelimit-remaining"), String(limit - 1));
      assertEquals(first.headers.get("ratelimit-reset"), "60");
      assert(!first.headers.has("retry-after"));
      const rest = await statuses(api, limit - 1, method, path, options);
      assertEquals(new Set(rest), new Set([status]));
      now += 10_500;
      const { status: over, body, headers } = await api.call(method, path, options);
      assertEquals(over, 429);
      assertEquals(body.error, "rate_limit_exceeded");
      assertMatch(body.message, /requests per minute/);
      assertEquals(body.details, {
        limit,
        remaining: 0,
        reset: Math.ceil((now + 49_500) / 1_000),
      });
      assertEquals(headers.get("retry-after"), "50");
      assertEquals(headers.get("ratelimit-remaining"), "0");
      const other = await api.addKey(id);
      assertEquals((await api.call(method, path, { ...options, key: other })).status, status);
      now += 60_000;
      assertEquals((await api.call(method, path, options)).status, status);
    });
  }
});

test("an administrator's override holds at once; 0 is unlimited; null is the default", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const { id, key } = await api.addMerchant();
  const set = async (rateLimits: object) => {
    const answer = await api.call("PATCH", `/api/merchants/${id}`, {
      key: admin,
      body: { rateLimits },
    });
    assertEquals(answer.status, 200);
  };
  const balance = () => api.call("GET", "/api/balance", { key });
  assertEquals((await balance()).headers.get("ratelimit-limit"), "1000");
  await set({ balance: 2 });
  assertEquals((await balance()).status, 200);
  assertEquals((await balance()).status, 429);
  await set({ balance: 0 });
  const free = await balance();
  assertEquals([free.status, free.headers.has("ratelimit-limit")], [200, false]);
  await set({ balance: null });
  assertEquals((await balance()).headers.get("ratelimit-limit"), "1000");
});

test("failed authentications are counted per address, and only they are turned away", async () => {
  await using api = await testApi({ trustedProxies: ["127.0.0.1"] });
  const { key } = await api.addMerchant();
  const from = (address: string, more: CallOptions = {}) =>
    api.call("GET", "/api/balance", {
      ...more,
      headers: { "x-forwarded-for": address },
    });
  for (let i = 0; i < 100; i++) {
    const wrong = i % 2 === 0 ? {} : { key: mintApiKey("development") };
    assertEquals((await from("203.0.113.9", wrong)).status, 401);
  }
  const over = await from("203.0.113.9");
  assertEquals([over.status, over.body.details.limit], [429, 100]);
  assertEquals((await from("203.0.113.9", { key })).status, 200);
  assertEquals((await from("203.0.113.10")).status, 401);
  for (let i = 0; i < 100; i++) await from(`2001:db8::${i}`);
  assertEquals((await from("2001:db8::ffff")).status, 429);
  assertEquals((await from("2001:db8:0:1::1")).status, 401);
});

test("polling of a hosted page is counted per session token", async () => {
  await using api = await testApi();
  const poll = (token: string) => api.call("GET", `/api/deposit-page/status?token=${token}`);
  for (let i = 0; i < 240; i++) assertEquals((await poll("a".repeat(43))).status, 404);
  assertEquals((await poll("a".repeat(43))).status, 429);
  assertEquals((await poll("b".repeat(43))).status, 404);
});

test("administrators are not limited", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  const { id } = await api.addMerchant();
  const answer = await api.call("GET", `/api/merchants/${id}`, { key: admin });
  assertEquals([answer.status, answer.headers.has("ratelimit-limit")], [200, false]);
});
