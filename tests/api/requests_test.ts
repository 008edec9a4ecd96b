import { assertEquals, assertMatch } from "@std/assert";
import { REFUSALS } from "../../actors/merchant/refusal.ts";
import { type ErrorCode, ERRORS } from "../../api/http/error_table.ts";
import { errorAnswer, exampleAnswer, refused } from "../../api/http/errors.ts";
import { DEFAULT_LIMITS } from "../../api/http/rate_limits.ts";
import { ROUTES } from "../../api/routes.ts";
import { VERSION } from "../../api/http/version.ts";
import { connect } from "../../ledger/database/connect.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("requests");

const PAYOUT = '{"amount":"10","currency":"USDT","network":"TRX","destination":"T"}';

shared(
  "a key is needed, must be whole, known, of this environment, unexpired and unrevoked",
  async (api, t) => {
    const { id, key } = await api.addMerchant();
    const expired = await api.addKey(id, { expiresAt: new Date(Date.now() - 1_000) });
    const staging = await api.addKey(id, { environment: "staging" });
    const elsewhere = await api.addKey(id, { ipAllowlist: ["203.0.113.0/24"] });
    const here = await api.addKey(id, { ipAllowlist: ["127.0.0.0/8"] });
    const changed = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    const rows: readonly [string, string | undefined, number, string | null][] = [
      ["raw", key, 200, null],
      ["bearer", `Bearer ${key}`, 200, null],
      ["bearer in another case", `bearer ${key}`, 200, null],
      ["none", undefined, 401, "Authentication required"],
      ["bearer without a key", "Bearer ", 401, "Authentication required"],
      ["invented", "sk_development_x", 401, "Unauthorized"],
      ["wrong check digits", changed, 401, "Unauthorized"],
      ["expired", expired, 401, "Unauthorized"],
      ["another environment", staging, 401, "Unauthorized"],
      ["another address", elsewhere, 401, "Unauthorized"],
      ["an allowed address", here, 200, null],
    ];
    for (const [name, sent, status, error] of rows) {
      await t.step(name, async () => {
        const answer = await api.call("GET", "/api/balance", {
          headers: sent === undefined ? {} : { authorization: sent },
        });
        assertEquals(answer.status, status);
        if (error !== null) assertEquals(answer.body.error, error);
        assertEquals(answer.headers.has("www-authenticate"), status === 401);
      });
    }
  },
);

test("a revoked key is refused within a second", async () => {
  let now = Date.now();
  await using api = await testApi({ clock: () => now });
  const { id, key } = await api.addMerchant();
  assertEquals((await api.call("GET", "/api/balance", { key })).status, 200);
  await api.sql`UPDATE hub.api_key SET revoked_at = now() WHERE merchant_id = ${id}`;
  now += 1_000;
  assertEquals((await api.call("GET", "/api/balance", { key })).status, 401);
});

test("a forwarded address counts only from a trusted proxy", async () => {
  const allowed = { ipAllowlist: ["203.0.113.7"] };
  const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.7" };
  await using direct = await testApi();
  const first = await direct.addMerchant();
  const key = await direct.addKey(first.id, allowed);
  assertEquals((await direct.call("GET", "/api/balance", { key, headers })).status, 401);
  await using proxied = await testApi({ trustedProxies: ["127.0.0.1"] });
  const second = await proxied.addMerchant();
  const other = await proxied.addKey(second.id, allowed);
  assertEquals((await proxied.call("GET", "/api/balance", { key: other, headers })).status, 200);
});

test("a key that is bound to the proxy's network is refused to clients that the proxy does not name", async () => {
  await using api = await testApi({ trustedProxies: ["127.0.0.1"] });
  const { id } = await api.addMerchant();
  const inside = await api.addKey(id, { ipAllowlist: ["127.0.0.0/8"] });
  const outside = await api.addKey(id, { ipAllowlist: ["203.0.113.7"] });
  const ask = async (key: string, forwarded: string | null) => {
    const headers = forwarded === null ? {} : { "x-forwarded-for": forwarded };
    return (await api.call("GET", "/api/balance", { key, headers })).status;
  };
  for (
    const forwarded of [null, "", "unknown", "127.0.0.1", "198.51.100.1:80", "[2001:db8::1]:80"]
  ) {
    assertEquals(await ask(inside, forwarded), 401, `${forwarded}`);
  }
  for (const forwarded of ["203.0.113.7", "203.0.113.7:4711"]) {
    assertEquals(await ask(outside, forwarded), 200, forwarded);
  }
  // so many clients as one may have failures; a proxy that writes ports does not make them one
  for (let i = 0; i <= DEFAULT_LIMITS.authentication; i++) {
    assertEquals(await ask("nonsense", `198.51.100.${i}:4711`), 401);
  }
});

function byteByByte(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent < bytes.length) controller.enqueue(bytes.slice(sent, ++sent));
      else controller.close();
    },
  });
}

shared(
  "what is no request of the interface gets its error body and a request id",
  async (api, t) => {
    const { key } = await api.addMerchant();
    const post = (raw: BodyInit, headers: Record<string, string> = {}) =>
      api.call("POST", "/api/withdrawals", { key, raw, headers });
    const nested = (depth: number) => `{"metadata":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const rows: readonly [string, () => ReturnType<typeof post>, number, string][] = [
      ["unknown path", () => api.call("GET", "/api/nothing", { key }), 404, "Not found"],
      ["malformed JSON", () => post("{"), 400, "Invalid request data"],
      ["empty body", () => post(""), 400, "Invalid request data"],
      ["an array", () => post("[]"), 400, "Invalid request data"],
      ["null", () => post("null"), 400, "Invalid request data"],
      ["too deep", () => post(nested(33)), 400, "Invalid request data"],
      ["absurdly deep", () => post(nested(20_000)), 400, "Invalid request data"],
      ["__proto__", () => post('{"__proto__":{"amount":"1"}}'), 400, "Invalid request data"],
      [
        "a key twice",
        () => post(PAYOUT.replace("{", '{"amount":"1",')),
        400,
        "Invalid request data",
      ],
      ["NUL", () => post(PAYOUT.replace('"T"', '"\\u0000"')), 400, "Invalid request data"],
      [
        "lone surrogate",
        () => post(PAYOUT.replace('"T"', '"\\ud800"')),
        400,
        "Invalid request data",
      ],
      [
        "NUL in a name",
        () => post(PAYOUT.replace("{", '{"\\u0000":1,')),
        400,
        "Invalid request data",
      ],
      [
        "bytes that are not UTF-8",
        () => post(new Uint8Array([0x22, 0xff, 0x22])),
        400,
        "Invalid request data",
      ],
      ["too large", () => post(`{"x":"${"y".repeat(65_536)}"}`), 413, "Request body too large"],
      [
        "too large without a length",
        () => post(new Blob([`{"x":"${"y".repeat(70_000)}"}`]).stream()),
        413,
        "Request body too large",
      ],
      [
        "many pieces without a length",
        () => post(byteByByte(PAYOUT.padEnd(2_000))),
        400,
        "Invalid request data",
      ],
      [
        "form data",
        () => post("a=b", { "content-type": "application/x-www-form-urlencoded" }),
        415,
        "Unsupported media type",
      ],
      ["text", () => post(PAYOUT, { "content-type": "text/plain" }), 415, "Unsupported media type"],
      [
        "a query that is not UTF-8",
        () => api.call("GET", "/api/deposits?referenceId=%FF", { key }),
        400,
        "Invalid request data",
      ],
      [
        "NUL in a query",
        () => api.call("GET", "/api/deposits?referenceId=a%00b", { key }),
        400,
        "Invalid request data",
      ],
      [
        "a surrogate in a query",
        () => api.call("GET", "/api/deposits?referenceId=%ED%A0%80", { key }),
        400,
        "Invalid request data",
      ],
      [
        "a parameter twice",
        () => api.call("GET", "/api/deposits?page=1&page=2", { key }),
        400,
        "Invalid request data",
      ],
      [
        "a broken escape",
        () => api.call("GET", "/api/deposits?page=%", { key }),
        400,
        "Invalid request data",
      ],
    ];
    for (const [name, request, status, error] of rows) {
      await t.step(name, async () => {
        const answer = await request();
        assertEquals(answer.status, status);
        assertEquals(answer.body.error, error);
        assertMatch(answer.headers.get("x-request-id") ?? "", /^req_[0-9a-f]{32}$/);
        assertEquals(answer.headers.get("content-type"), "application/json");
        if (status === 400) assertEquals(Array.isArray(answer.body.details), true);
      });
    }
  },
);

shared("JSON with parameters in its content type, and escapes, is accepted", async (api) => {
  const { key } = await api.addMerchant();
  const answer = await api.call("POST", "/api/deposit-address", {
    key,
    raw: '{"network":"TR\\u0058","identifier":"a:b\\u002d1"}',
    headers: { "content-type": "Application/JSON; charset=utf-8" },
  });
  assertEquals(answer.status, 201);
});

shared("a wrong method is 405 and names the right ones, on every path", async (api) => {
  const paths = Map.groupBy(ROUTES, (route) => route.path);
  for (const [path, routes] of paths) {
    const answer = await api.call("DELETE", path.replaceAll(/\{\w+\}/g, "x"));
    if (routes.some(({ method }) => method === "DELETE")) continue;
    assertEquals(answer.status, 405, path);
    assertEquals(answer.body, { error: "Method not allowed", code: "method_not_allowed" });
    const allowed = (answer.headers.get("allow") ?? "").split(", ");
    for (const { method } of routes) assertEquals(allowed.includes(method), true, path);
  }
});

test("every route with a key is 401 without one and 403 with a key that may nothing", async () => {
  const routes = ROUTES.filter(({ access }) => access.scope !== "public");
  // an address has 100 failed authentications a minute, and there are more routes than that
  for (let first = 0; first < routes.length; first += 90) {
    await using api = await testApi();
    const { id } = await api.addMerchant();
    const none = await api.addKey(id, { permissions: [] });
    const admin = await api.addKey(null, { permissions: [] });
    for (const route of routes.slice(first, first + 90)) {
      const path = route.path.replace("{merchantId}", id);
      const anonymous = await api.call(route.method, path);
      assertEquals(
        [anonymous.status, anonymous.body.error],
        [401, "Authentication required"],
        path,
      );
      for (const key of [none, admin]) {
        const answer = await api.call(route.method, path, { key });
        assertEquals(answer.status, 403, `${route.method} ${path}`);
        assertMatch(answer.body.error, /^Insufficient permissions/);
      }
    }
  }
});

test("a database that cannot be reached is 503, never 500, and health still answers", async () => {
  const nowhere = connect("postgres://nobody@127.0.0.1:1/none", { connectTimeoutMs: 1_000 });
  await using api = await testApi({
    sql: nowhere,
    readiness: () => Promise.resolve({ status: "unready", reasons: ["database"] }),
  });
  const { key } = await api.addMerchant();
  const answer = await api.call("GET", "/api/balance", { key });
  assertEquals([answer.status, answer.body.error], [503, "Service unavailable"]);
  assertEquals(answer.headers.get("retry-after"), "1");
  assertEquals((await api.call("GET", "/healthz")).body, { status: "ok", version: VERSION });
  const ready = await api.call("GET", "/readyz");
  assertEquals([ready.status, ready.body], [503, { status: "unready", reasons: ["database"] }]);
  const measured = await api.call("GET", "/metrics");
  assertEquals(measured.status, 200);
  assertMatch(
    measured.body,
    /http_requests_total\{method="GET",route="\/api\/balance",status="503"\} 1/,
  );
  await nowhere.end({ timeout: 0 });
});

shared(
  "a POST without a body needs neither its length nor its type, where all may be left out",
  async (api) => {
    const key = await api.addKey(null, { permissions: ["admin:write"] });
    const { hostname, port } = new URL(api.url);
    const send = async (head: string) => {
      using connection = await Deno.connect({ hostname, port: Number(port) });
      const path = "/api/admin/settlement-addresses/adr_nobody/activate";
      await connection.write(new TextEncoder().encode(
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${key}\r\n${head}\r\n`,
      ));
      const buffer = new Uint8Array(4_096);
      const read = await connection.read(buffer);
      return new TextDecoder().decode(buffer.subarray(0, read ?? 0)).slice(9, 12);
    };
    // as curl -X POST, as fetch, and one that says it sends a body of no characters
    assertEquals(await send(""), "404");
    assertEquals(await send("Content-Length: 0\r\n"), "404");
    assertEquals(await send("Content-Type: application/json\r\n"), "404");
    const { status } = await api.call("POST", "/api/withdrawals", {
      key: (await api.addMerchant()).key,
    });
    assertEquals(status, 415);
  },
);

test("where clients come over TLS, every answer tells them to come no other way", async () => {
  await using api = await testApi({ publicUrl: "https://pay.example" });
  const answers = await Promise.all([
    api.call("GET", "/healthz"),
    api.call("GET", "/nowhere"),
    api.call("GET", "/api/balance"),
    api.call("DELETE", "/api/balance"),
  ]);
  for (const { headers } of answers) {
    assertEquals(headers.get("strict-transport-security"), "max-age=31536000");
  }
  await using plain = await testApi();
  const { headers } = await plain.call("GET", "/healthz");
  assertEquals(headers.get("strict-transport-security"), null);
});

const CODES = Object.keys(ERRORS) as ErrorCode[];

Deno.test("errors: every row makes an answer in which all facts are filled in", () => {
  for (const code of CODES) {
    const { status, body, headers } = exampleAnswer(code);
    assertEquals(status, ERRORS[code].status, code);
    assertEquals(/\{\w+\}|undefined|\[object/.test(JSON.stringify(body)), false, code);
    assertEquals(status === 503, headers?.["retry-after"] !== undefined, code);
  }
  assertEquals(new Set(CODES.map((code) => ERRORS[code].name)).size, CODES.length);
});

Deno.test("errors: no row of the interface takes the place of a refusal", () => {
  for (const [code, row] of Object.entries(REFUSALS)) {
    assertEquals(Object.entries(ERRORS).find(([name]) => name === code)?.[1], row);
  }
});

Deno.test("errors: texts, fields and their order are those of the facts", () => {
  const move = { from: "PENDING", to: "FAILED" };
  assertEquals(
    JSON.stringify(refused({ code: "wrong_state", ...move }).body),
    '{"error":"Conflict","code":"wrong_state",' +
      '"message":"Cannot move from PENDING to FAILED.","from":"PENDING","to":"FAILED"}',
  );
  assertEquals(refused({ code: "same_administrator", isSecondMissing: true }).body, {
    error: "Insufficient permissions",
    code: "same_administrator",
    message: "Another administrator has to decide on this one.",
  });
  assertEquals(refused({ code: "amount_not_exact", decimals: 6 }, "requestedAmount").body, {
    error: "Invalid request data",
    code: "amount_not_exact",
    details: [{
      path: ["requestedAmount"],
      message: "The amount may have 6 decimal places on this network",
      code: "not_exact",
    }],
  });
  const unknown = JSON.stringify(errorAnswer("outcome_unknown", { settlementId: "stl_1" }).body);
  assertMatch(
    unknown,
    /^\{"error":"Outcome unknown","code":"outcome_unknown","message":".+","settlementId":"stl_1"\}$/,
  );
});
