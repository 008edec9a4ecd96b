import { assert, assertEquals, assertMatch } from "@std/assert";
import { mintApiKey } from "../../api/http/key_ring.ts";
import { hashSessionToken } from "../../api/http/session_token.ts";
import { type CallOptions, testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("rate limits");

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

shared(
  "an administrator's override holds at once; 0 is unlimited; null is the default",
  async (api) => {
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
  },
);

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

/** The statuses of requests that are sent in portions, beside each other. */
async function all(count: number, ask: () => Promise<{ readonly status: number }>) {
  const found = new Set<number>();
  for (let sent = 0; sent < count; sent += 300) {
    const portion = Array.from({ length: Math.min(300, count - sent) }, ask);
    for (const { status } of await Promise.all(portion)) found.add(status);
  }
  return found;
}

test("pages are counted per session token, and tokens of no page per address", async () => {
  const now = Date.now();
  await using api = await testApi({ trustedProxies: ["127.0.0.1"], clock: () => now });
  const { key } = await api.addMerchant();
  const newPage = async (): Promise<string> => {
    const body = { network: "TRX", identifier: crypto.randomUUID() };
    return (await api.call("POST", "/api/deposit-url", { key, body })).body.sessionToken;
  };
  const from = (address: string, path: string) =>
    api.call("GET", path, { headers: { "x-forwarded-for": address } });
  const poll = (token: string, address = "203.0.113.9") =>
    from(address, `/api/deposit-page/status?token=${token}`);
  const invented = () =>
    crypto.getRandomValues(new Uint8Array(32)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
  // customers behind one address, whose pages together ask more than the address may without one
  const [first, second, third] = [await newPage(), await newPage(), await newPage()];
  for (const page of [first, second, third]) {
    assertEquals(await all(230, () => poll(page)), new Set([200]));
  }
  assertEquals(
    await all(600, () => poll(invented())),
    new Set([404]),
  );
  for (const path of ["/deposit/", "/api/deposit-page?token=", "/api/deposit-page/status?token="]) {
    const over = await from("203.0.113.9", path + invented());
    assertEquals([over.status, over.headers.get("ratelimit-limit")], [429, "600"]);
  }
  assertEquals((await poll(invented(), "203.0.113.10")).status, 404);
  assertEquals(await all(10, () => poll(first)), new Set([200]));
  const over = await poll(first);
  assertEquals([over.status, over.headers.get("ratelimit-limit")], [429, "240"]);
  // a page that is opened for the first time behind the address that is used up is opened
  const late = await newPage();
  assertEquals((await poll(late)).status, 200);
  // the same of a page that another node made, or this one before it was started anew
  const elsewhere = await pageOfAnotherNode(api, late);
  for (const path of ["/deposit/", "/api/deposit-page?token=", "/api/deposit-page/status?token="]) {
    assertEquals((await from("203.0.113.9", path + invented())).status, 429);
    const found = await from("203.0.113.9", path + elsewhere);
    assertEquals([found.status, found.headers.get("ratelimit-limit")], [200, "240"]);
  }
});

/** Stores a page beside another, without a word to the interface. */
async function pageOfAnotherNode(api: Api, token: string): Promise<string> {
  const made = crypto.getRandomValues(new Uint8Array(32)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
  const { sql } = api;
  const rows = await sql`
    INSERT INTO hub.session
      SELECT (jsonb_populate_record(s, jsonb_build_object('id', 'ses_elsewhere', 'seq', s.seq + 1,
        'token_hash', ${`\\x${hashSessionToken(made).toHex()}`}::text))).*
      FROM hub.session s WHERE s.token_hash = decode(${hashSessionToken(token).toHex()}, 'hex')
    RETURNING id`;
  assertEquals(rows.length, 1);
  return made;
}

test("a page counts as the one that is shown, whatever else its link carries", async () => {
  const now = Date.now();
  await using api = await testApi({ trustedProxies: ["127.0.0.1"], clock: () => now });
  const { key } = await api.addMerchant();
  const body = { network: "TRX", identifier: "me" };
  const page = (await api.call("POST", "/api/deposit-url", { key, body })).body.sessionToken;
  const ask = (query: string) =>
    api.call("GET", `/api/deposit-page?${query}&token=${page}`, {
      headers: { "x-forwarded-for": "203.0.113.9" },
    });
  let asked = 0;
  const junk = [
    () => `token=%ff${asked}`,
    () => `token=%00${asked}`,
    () => `token=%ff${asked}${"a".repeat(5_000)}`,
    () => `%74oken=%ed%a0%80&${asked}`,
  ];
  for (const query of junk) {
    await all(60, () => {
      asked++;
      return ask(query());
    });
  }
  for (const query of junk) {
    const over = await ask(query());
    assertEquals([over.status, over.headers.get("ratelimit-limit")], [429, "240"]);
  }
});

shared("administrators are not limited", async (api) => {
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  const { id } = await api.addMerchant();
  const answer = await api.call("GET", `/api/merchants/${id}`, { key: admin });
  assertEquals([answer.status, answer.headers.has("ratelimit-limit")], [200, false]);
});

test("keys that exist count against no address, however many come from one at once", async () => {
  const now = Date.now();
  await using api = await testApi({ clock: () => now });
  const { id, key } = await api.addMerchant();
  const keys = [key];
  while (keys.length < 5) keys.push(await api.addKey(id));
  const guess = () => api.call("GET", "/api/balance", { key: mintApiKey("development") });
  await Promise.all(Array.from({ length: 999 }, guess));
  for (const one of keys) {
    assertEquals((await api.call("GET", "/api/balance", { key: one })).status, 200);
  }
  await guess();
  const late = await api.addKey(id);
  const { status, body } = await api.call("GET", "/api/balance", { key: late });
  assertEquals(status, 429);
  assertMatch(body.message, /\(authentication\) are used up/);
});

test("what no route answers is counted per address and measured: unknown paths and malformed hosts", async () => {
  const now = Date.now();
  await using api = await testApi({ clock: () => now });
  const ask = (host: string, hostname: string) => {
    const request = new Request(`${api.url}/nowhere`, { headers: { host } });
    return api.answer(request, { remoteAddr: { transport: "tcp", hostname } });
  };
  const rows = [["localhost", "203.0.113.1", 404], ["a b", "203.0.113.2", 400]] as const;
  for (const [host, address, status] of rows) {
    assertEquals(await all(600, () => ask(host, address)), new Set([status]));
    assertEquals((await ask(host, address)).status, 429);
  }
  assertEquals((await ask("a b", "203.0.113.3")).status, 400);
  const metrics = String((await api.call("GET", "/metrics")).body).split("\n");
  const counts = metrics.filter((line) => line.startsWith("engine_http_requests_total{"))
    .filter((line) => line.includes('"ANY"')).sort();
  const name = (route: string, status: number) =>
    `engine_http_requests_total{method="ANY",route="${route}",status="${status}"}`;
  assertEquals(counts, [
    `${name("malformed host", 400)} 601`,
    `${name("malformed host", 429)} 1`,
    `${name("unknown path", 404)} 600`,
    `${name("unknown path", 429)} 1`,
  ]);
  assert(
    metrics.includes(
      'engine_http_request_duration_seconds_count{method="ANY",route="malformed host"} 602',
    ),
    "malformed hosts are not timed",
  );
});
