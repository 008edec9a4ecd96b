import { assert, assertEquals } from "@std/assert";
import { ChangePlaces } from "../../api/http/change_places.ts";
import { mintApiKey } from "../../api/http/key_ring.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { until } from "../support/until.ts";

const test = testNeeding(DATABASE);

const BODY = JSON.stringify({
  ...{ amount: "1", currency: "USDT", network: "TRX" },
  destination: "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  /** The whole Authorization header. */
  readonly authorization?: string;
  readonly body?: BodyInit | null;
}

/** Asks the application itself, with what a server would give it. */
function ask(api: TestApi, asked: Asked) {
  const { method = "POST", path = "/api/withdrawals", authorization, body = BODY } = asked;
  const request = new Request(`${api.url}${path}`, {
    method,
    headers: {
      ...{ host: "localhost", "content-type": "application/json" },
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: method === "GET" || method === "HEAD" ? null : body,
  });
  const remoteAddr = { transport: "tcp", hostname: "127.0.0.1" };
  return { request, answer: api.answer(request, { remoteAddr }) };
}

/** Status, headers but for the request's id, and body. */
async function read(response: Response) {
  const headers = Object.fromEntries(response.headers);
  assert(/^req_[0-9a-f]{32}$/.test(headers["x-request-id"] ?? ""), "no request id");
  delete headers["x-request-id"];
  return { status: response.status, headers, body: await response.text() };
}

/** Takes the only place, for another account. */
function fill(places: ChangePlaces): () => void {
  const place = places.enter("mer_another");
  if (place === null) throw new Error("Cannot go on as there was no place");
  places.keep(place);
  return () => places.leave(place);
}

/** A place is kept for a body for so long, milliseconds. */
const AWAITED_MS = 100;

/** An interface with a single place. */
async function narrowApi() {
  const places = new ChangePlaces(1);
  return { api: await testApi({ changePlaces: places }), places };
}

test("a change that finds no place is a 503 with Retry-After, with its body unread", async () => {
  const { api: opened, places } = await narrowApi();
  await using api = opened;
  const { id, key } = await api.addMerchant("100");
  const notSeen = await api.addKey(id);
  assertEquals((await ask(api, { authorization: key }).answer).status, 201);
  const leave = fill(places);
  // in front of the router, and where the key is not remembered behind it
  for (const authorization of [key, notSeen]) {
    const { request, answer } = ask(api, { authorization });
    const response = await answer;
    assertEquals([response.status, response.headers.get("retry-after")], [503, "1"]);
    assertEquals((await response.json()).error, "Service unavailable");
    assertEquals(request.bodyUsed, false);
  }
  assertEquals(places.figures.refused, 2);
  const metrics = String((await api.call("GET", "/metrics")).body);
  assert(
    metrics.includes(
      'engine_http_requests_total{method="POST",route="/api/withdrawals",status="503"} 2\n',
    ),
    "refused requests are not counted",
  );
  // who only reads needs no place
  assertEquals((await api.call("GET", "/api/balance", { key })).status, 200);
  leave();
  assertEquals((await ask(api, { authorization: key }).answer).status, 201);
  assertEquals(places.figures.underWay, 0);
  const [row] = await api.sql`SELECT count(*)::int AS found FROM book.withdrawal`;
  assertEquals(row?.["found"], 2);
});

test("a refusal in front of the router is word for word the one behind it", async () => {
  const { api: opened, places } = await narrowApi();
  await using api = opened;
  const { key } = await api.addMerchant("100");
  const unlimited = await api.addMerchant("100");
  const limits = JSON.stringify({ withdrawals: 0 });
  await api.sql`
    UPDATE book.merchant SET rate_limits = ${limits}::text::jsonb WHERE merchant_id = ${unlimited.id}`;
  for (const authorization of [key, unlimited.key]) {
    assertEquals((await ask(api, { authorization }).answer).status, 201);
    const leave = fill(places);
    const early = await read(await ask(api, { authorization }).answer);
    // a query sends it through the router
    const late = await read(await ask(api, { authorization, path: "/api/withdrawals?a=b" }).answer);
    leave();
    assertEquals(early.status, 503);
    const remaining = "ratelimit-remaining";
    if (early.headers[remaining] !== undefined) {
      assertEquals([early.headers[remaining], late.headers[remaining]], ["48", "47"]);
      late.headers[remaining] = early.headers[remaining];
    }
    assertEquals(early, late);
  }
});

test("a refusal for want of a place counts against the limit, and above it the answer is 429", async () => {
  const { api: opened, places } = await narrowApi();
  await using api = opened;
  for (const path of ["/api/withdrawals", "/api/withdrawals?a=b"]) {
    const { id, key } = await api.addMerchant("100");
    await api.sql`
      UPDATE book.merchant SET rate_limits = ${
      JSON.stringify({ withdrawals: 3 })
    }::text::jsonb WHERE merchant_id = ${id}`;
    // an unknown parameter is refused behind the router, where the limit counts as well
    const first = path.includes("?") ? 400 : 201;
    assertEquals((await ask(api, { path, authorization: key }).answer).status, first);
    const leave = fill(places);
    const found = [];
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await ask(api, { path, authorization: key }).answer;
      found.push([status, headers.get("ratelimit-remaining"), headers.get("retry-after") === "1"]);
    }
    leave();
    assertEquals(found, [[503, "1", true], [503, "0", true], [429, "0", false]]);
    const over = await ask(api, { path, authorization: key }).answer;
    assertEquals((await over.json()).error, "rate_limit_exceeded");
  }
});

test("one key in many spellings finds no more places than in one", async () => {
  const { api: opened, places } = await narrowApi();
  await using api = opened;
  const { id, key } = await api.addMerchant("100");
  const second = await api.addKey(id);
  assertEquals((await ask(api, { authorization: key }).answer).status, 201);
  const place = places.enter(id);
  assert(place !== null && places.keep(place));
  const spellings = [
    key,
    `Bearer ${key}`,
    `bearer ${key}`,
    `BEARER    ${key}`,
    `  bEaReR ${key}  `,
    second,
    `Bearer ${second}`,
  ];
  for (const authorization of spellings) {
    assertEquals((await ask(api, { authorization }).answer).status, 503, authorization);
  }
  assertEquals([places.figures.underWay, places.figures.accounts], [1, 1]);
});

test("while places are used up everybody who has no right to one is answered as ever", async () => {
  const { api: opened, places } = await narrowApi();
  await using api = opened;
  const { id, key } = await api.addMerchant("100");
  const reading = await api.addKey(id, { permissions: ["read"] });
  const elsewhere = await api.addKey(id, { ipAllowlist: ["192.0.2.1"] });
  const expiring = await api.addKey(id, { expiresAt: new Date(Date.now() + 60_000) });
  const suspended = await api.addMerchant("100");
  await api.sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${suspended.id}`;
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const rows: readonly (readonly [string, Asked])[] = [
    ["made-up text", { authorization: "Bearer made-up" }],
    ["made-up key", { authorization: mintApiKey("development") }],
    ["key of another environment", { authorization: mintApiKey("production") }],
    ["key with wrong check digits", { authorization: `${key.slice(0, -1)}!` }],
    ["no key", {}],
    ["empty header", { authorization: "" }],
    ["scheme alone", { authorization: "Bearer" }],
    ["other scheme", { authorization: `Basic ${key}` }],
    ["two keys", { authorization: `${key}, ${key}` }],
    ["key that reads", { authorization: reading }],
    ["key of another address", { authorization: elsewhere }],
    ["suspended account", { authorization: suspended.key }],
    ["administrator on a merchant's route", { authorization: admin }],
    ["administrator", { authorization: admin, path: "/api/resellers", body: "{}" }],
    ["administrator's change", {
      method: "PATCH",
      path: `/api/merchants/${id}`,
      authorization: admin,
      body: `{"name":"Named"}`,
    }],
    ["merchant on an administrator's route", {
      path: "/api/admin/merchants",
      authorization: key,
      body: "{}",
    }],
    ["GET", { method: "GET", path: "/api/balance", authorization: key }],
    ["HEAD", { method: "HEAD", path: "/api/balance", authorization: key }],
    ["other method", { method: "PUT", authorization: key }],
    ["slash at the end", { path: "/api/withdrawals/", authorization: key }],
    ["two slashes", { path: "//api/withdrawals", authorization: key }],
    ["no such path", { path: "/api/withdrawals/api/withdrawals", authorization: key }],
  ];
  const ways = async () => {
    const found = [];
    for (const [name, asked] of rows) {
      const { status, body } = await read(await ask(api, asked).answer);
      found.push([name, status, body]);
    }
    return found;
  };
  assertEquals((await ask(api, { authorization: expiring }).answer).status, 201);
  const before = await ways();
  const leave = fill(places);
  assertEquals(await ways(), before);
  assertEquals(places.figures.refused, 0);
  // and no way of writing the path goes past the places
  for (
    const path of [
      "/api/withdrawals",
      "/api/withdrawals?",
      "/api/withdrawals?x=/api/admin/",
      "/api/withdrawals#/api/admin/",
      "/api/%77ithdrawals",
      "/api/x/../withdrawals",
      "/./api/withdrawals",
    ]
  ) {
    const { status } = await ask(api, { path, authorization: expiring }).answer;
    assertEquals(status, 503, path);
  }
  // a key that is no longer valid finds no place after a second, and is a 401 within five
  await api.sql`UPDATE hub.api_key SET revoked_at = now() WHERE merchant_id = ${id}`;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assertEquals((await ask(api, { authorization: key }).answer).status, 503);
  leave();
  assertEquals((await ask(api, { authorization: key }).answer).status, 401);
  const again = fill(places);
  assertEquals((await ask(api, { authorization: key }).answer).status, 401);
  again();
});

test("a body that does not arrive keeps no place from others", async () => {
  let now = 0;
  const places = new ChangePlaces(1, () => now);
  await using api = await testApi({ changePlaces: places });
  const [slow, other] = [await api.addMerchant("100"), await api.addMerchant("100")];
  const there = Promise.withResolvers<void>();
  const late = ask(api, {
    authorization: slow.key,
    body: new ReadableStream({
      start: async (stream) => {
        stream.enqueue(new TextEncoder().encode(BODY.slice(0, 9)));
        await there.promise;
        stream.enqueue(new TextEncoder().encode(BODY.slice(9)));
        stream.close();
      },
    }),
  }).answer;
  await until(() => places.figures.underWay === 1);
  now += AWAITED_MS;
  assertEquals(places.figures.underWay, 0);
  assertEquals((await ask(api, { authorization: other.key }).answer).status, 201);
  const leave = fill(places);
  there.resolve();
  assertEquals((await late).status, 503);
  leave();
  assertEquals((await ask(api, { authorization: slow.key }).answer).status, 201);
});

test("streams of one connection with bodies that do not arrive keep no place from others", async () => {
  let now = 0;
  const places = new ChangePlaces(12, () => now);
  await using api = await testApi({ changePlaces: places });
  const [slow, other] = [await api.addMerchant("100"), await api.addMerchant("100")];
  const { connect } = await import("node:http2");
  const session = connect(api.url);
  session.on("error", () => {});
  const statuses: number[] = [];
  for (let n = 0; n < 40; n++) {
    const stream = session.request({
      ":method": "POST",
      ":path": "/api/withdrawals",
      ...{ host: "127.0.0.1", authorization: `Bearer${" ".repeat(n + 1)}${slow.key}` },
      ...{ "content-type": "application/json", "content-length": "60000" },
    });
    stream.on("error", () => {});
    stream.on("response", (headers) => statuses.push(Number(headers[":status"])));
    stream.write("{");
  }
  // all came at once: one account has two thirds of the places, for a moment
  await until(() => statuses.length + places.figures.underWay >= 40);
  assertEquals([places.figures.underWay, places.figures.accounts], [8, 1]);
  assertEquals(statuses, Array.from({ length: 32 }, () => 503));
  now += AWAITED_MS;
  assertEquals(places.figures.underWay, 0);
  assertEquals((await ask(api, { authorization: other.key }).answer).status, 201);
  const closed = new Promise((resolve) => session.once("close", resolve));
  session.destroy();
  await closed;
});
