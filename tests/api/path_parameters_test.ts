import { configure, reset } from "@logtape/logtape";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isHost } from "../../api/http/client_address.ts";
import { isReadablePath, parseQuery } from "../../api/http/request_url.ts";
import { DEEPEST, hasInexactNumber, parseStrictJson } from "../../api/http/strict_json.ts";
import { ROUTES } from "../../api/routes.ts";
import { addressOf, testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("path parameters");

/** Parts of a path that name nothing: NUL, a lone surrogate, no UTF-8, no percent-encoding. */
const UNREADABLE = ["%00", "wd_%00", "%ED%A0%80", "%FF", "%E0%A4", "%", "%zz", "a%2"];

Deno.test("a path is readable when its percent-encoding is UTF-8 without NUL", () => {
  for (const part of UNREADABLE) {
    assertEquals(isReadablePath(`http://x/api/withdrawals/${part}/cancel`, {}), false, part);
  }
  for (const part of ["wd_1", "%61", "%2500", "a%20b", "%F0%9F%98%80"]) {
    assertEquals(isReadablePath(`http://x/api/withdrawals/${part}?q=%00`, {}), true, part);
  }
  assertEquals(isReadablePath("http://[]:99999999/api/%41", {}), false);
  assertEquals(isReadablePath("http://x/api/y", { id: "\0" }), false);
  assertEquals(isReadablePath("http://x/api/y", { id: "\ud800" }), false);
});

shared(
  "every route with parameters answers 404 to a part of its path that is not text",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const admin = await api.addKey(null, {
      permissions: ["admin:read", "admin:write", "read", "write", "payout"],
    });
    const routes = ROUTES.filter(({ path, problemPage }) =>
      path.includes("{") && problemPage === null && !path.endsWith("*")
    );
    for (const { method, path, access, verify } of routes) {
      if (verify !== null) continue;
      for (const part of ["%00", "%ED%A0%80", "%E0%A4"]) {
        const own = access.scope === "own" || access.scope === "named" || access.scope === "acting";
        const named = path.replace("{merchantId}", access.scope === "named" ? id : part);
        const asked = named.replaceAll(/\{\w+\}/g, part);
        if (!asked.includes("%")) continue;
        const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
        const answer = await api.call(method, asked, { key: own ? key : admin, ...body });
        const told = [answer.status, answer.body];
        if (answer.status === 403 || answer.status === 429) continue;
        assertEquals(told, [404, { error: "Not found", code: "not_found" }], `${method} ${asked}`);
      }
    }
  },
);

shared("a storm of paths with NUL costs other merchants no withdrawal", async (api) => {
  const stormy = await api.addMerchant();
  const others = await Promise.all(Array.from({ length: 5 }, () => api.addMerchant("1000")));
  const body = {
    amount: "1",
    currency: "USDT",
    network: "TRX",
    destination: "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
  };
  const asked = Array.from({ length: 40 }, async (_, n) => {
    const storm = api.call("POST", "/api/withdrawals/%00/cancel", { key: stormy.key });
    const { key } = others[n % 5] ?? stormy;
    const made = await api.call("POST", "/api/withdrawals", { key, body });
    return [made.status, (await storm).status];
  });
  for (const [made, storm] of await Promise.all(asked)) {
    assertEquals([made, storm], [201, 404]);
  }
  assertEquals(api.journal.figures.givenUp, 0);
  assertEquals(api.journal.figures.quarantined, 0);
  assertEquals(await booksFaults(api.sql), []);
});

Deno.test("a Host header is a host, with or without a port", () => {
  const hosts = ["x", "pay.example.com", "pay_1.internal:8080", "10.0.0.1:80", "[::1]", "[::1]:80"];
  for (const host of hosts) assert(isHost(host), host);
  const others = [
    "",
    "a b",
    "[",
    "[]",
    "x/",
    "x/api/balance?",
    "x?",
    "x#",
    "u:p@x",
    "x:",
    "x:a",
    "%",
  ];
  for (const host of [null, ...others, "x\\y", "x:123456", "é", "a,b"]) {
    assert(!isHost(host), String(host));
  }
});

test("a malformed Host is a 400 before anything else, and no error of the service", async () => {
  const logged: string[] = [];
  await configure({
    sinks: { list: ({ level, rawMessage }) => void logged.push(`${level} ${rawMessage}`) },
    loggers: [
      { category: ["engine"], sinks: ["list"], lowestLevel: "warning" },
      { category: ["logtape", "meta"], sinks: ["list"], lowestLevel: "warning" },
    ],
    reset: true,
  });
  try {
    await using api = await testApi();
    const { key } = await api.addMerchant();
    const rows = [
      "GET /x",
      "GET /",
      "CONNECT [",
      "GET /deposit/abc/",
      "GET /deposit/%41",
      "POST /api/withdrawals/%41/cancel",
      "GET /api/balance/%41?a=b",
      "DELETE /api/deposits",
    ];
    for (const line of rows) {
      const names = ["[", "[]:99999999", "a b", "%", "x/api/balance?", "x/healthz#", ""];
      for (const host of [...names.map((name) => `Host: ${name}\r\n`), ""]) {
        const head = `${line} HTTP/1.1\r\n${host}Authorization: ${key}\r\n` +
          "Content-Length: 0\r\nConnection: close\r\n\r\n";
        const answer = await rawAnswer(new URL(api.url), head);
        assertEquals(Number(answer.split(" ")[1]), 400, `${line} of ${host}`);
      }
    }
    assertEquals(logged, []);
  } finally {
    await reset();
  }
});

/** All that is answered to a request that is sent as it is. */
async function rawAnswer({ hostname, port }: URL, head: string): Promise<string> {
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(head));
  return await new Response(connection.readable).text();
}

const ALL = ["read", "write", "payout", "admin:read", "admin:write"];

/** A body without fault for every route that both call, and what its merchant is answered. */
const BODIES: Readonly<Record<string, readonly [object, number]>> = {
  "PUT /api/resellers/{resellerId}": [{ name: "New name" }, 200],
  "PATCH /api/merchants/{merchantId}": [{ webhookEnabled: false }, 200],
  "POST /api/merchants/{merchantId}/api-keys": [{ label: "a", permissions: ["read"] }, 201],
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/rotate": [{ overlapHours: 1 }, 201],
  "POST /api/merchants/{merchantId}/webhook/rotate-secret": [{ overlapHours: 1 }, 200],
  // without a URL there is nothing to deliver to
  "POST /api/merchants/{merchantId}/webhook/redeliver": [{
    startDate: "2026-01-01",
    endDate: "2026-01-31",
  }, 422],
  "POST /api/settlements": [{
    currency: "USDT",
    requestedAmount: "1",
    destinationAddress: addressOf(7),
    destinationNetwork: "TRX",
  }, 400],
};

test("unknown fields are ignored in merchants' bodies and refused in administrators'", async (t) => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ALL });
  const made = await api.call("POST", "/api/resellers", {
    key: admin,
    body: { name: "Line", withdrawalAddress: SOMEWHERE, network: "TRX" },
  });
  const reseller = await api.addKey(made.body.merchantId, { role: "RESELLER" });
  const shop = await api.addMerchant();
  const [own] = await api.sql`SELECT id FROM hub.api_key WHERE merchant_id = ${shop.id}`;

  const shared = ROUTES.filter(({ access, body }) => body !== null && "adminAnyOf" in access)
    .map(({ method, path }) => `${method} ${path}`);
  assertEquals(shared.toSorted(), Object.keys(BODIES).toSorted());

  for (const [route, [body, status]] of Object.entries(BODIES)) {
    await t.step(route, async () => {
      const [method = "", template = ""] = route.split(" ");
      const path = template.replace("{resellerId}", made.body.id)
        .replace("{merchantId}", shop.id).replace("{keyId}", own?.id);
      const call = (key: string, fields: object) =>
        api.call(method, path, { key, body: { ...fields, zzz: 1 } });
      const named = route === "POST /api/settlements" ? { ...body, userId: shop.id } : body;
      const refused = await call(admin, named);
      assertEquals([refused.status, refused.body.error], [400, "Invalid request data"]);
      assertEquals(refused.body.details[0].code, "unrecognized_keys");
      const heard = await call(path.startsWith("/api/resellers") ? reseller : shop.key, body);
      assertEquals(heard.status, status);
      assertEquals("details" in heard.body && status === 400, false);
    });
  }
  const [renamed] = await api.sql`SELECT name FROM hub.reseller WHERE id = ${made.body.id}`;
  assertEquals(renamed?.name, "New name");
});

function fault(text: string): string {
  const parsed = parseStrictJson(text);
  return parsed.kind === "fault" ? parsed.code : "value";
}

Deno.test("every JSON value of ordinary text is read as JSON.parse reads it", () => {
  fc.assert(fc.property(
    fc.jsonValue({ stringUnit: "grapheme", maxDepth: 6 }),
    fc.constantFrom(undefined, 2),
    (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      if (text.includes('"__proto__"') || text.includes("\\u0000")) return;
      const parsed = parseStrictJson(text);
      assert(parsed.kind === "value", text);
      assertEquals(JSON.stringify(parsed.value), JSON.stringify(value));
    },
  ));
});

Deno.test("a name that occurs twice is found at any depth, however it is spelled", () => {
  assertEquals(fault('{"a":1,"a":1}'), "duplicate_key");
  assertEquals(fault('{"a":1,"\\u0061":2}'), "duplicate_key");
  assertEquals(fault('[{"x":{"b":1,"c":2,"b":3}}]'), "duplicate_key");
  assertEquals(fault('{"a":{"a":1},"b":[{"a":1},{"a":2}]}'), "value");
  assertEquals(fault('{"a":"x:\\":y","b:":{}}'), "value");
});

Deno.test("a number that does not read back as it was written is known by what holds it", () => {
  const holds = (text: string) => {
    const parsed = parseStrictJson(text);
    assert(parsed.kind === "value", text);
    return hasInexactNumber(parsed.value as object);
  };
  fc.assert(fc.property(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.nat(30),
    fc.integer({ min: -20, max: 20 }),
    (number, places, power) => {
      const digits = String(number < 0n ? -number : number).padStart(places + 1, "0");
      const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(-places)];
      const sign = number < 0n ? "-" : "";
      const text = `${sign}${whole}${places === 0 ? "" : `.${fraction}`}e${power}`;
      // both as whole numbers of 10^-60
      const written = number * 10n ** BigInt(60 - places + power);
      assertEquals(holds(`[${text}]`), written !== exactly(String(Number(text))), text);
    },
  ));
  assertEquals(holds('{"a":1.5,"b":{"c":12345678901234567890}}'), false);
  assertEquals(holds('["123456789012345678901","1e400"]'), false);
});

/** A number as JavaScript writes it, in 10^-60. */
function exactly(text: string): bigint {
  const [mantissa = "", power = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(60 + Number(power) - fraction.length);
}

Deno.test("depth is bounded before anything recurses", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assertEquals(fault(nested(DEEPEST)), "value");
  assertEquals(fault(nested(DEEPEST + 1)), "too_deep");
  assertEquals(fault("[".repeat(60_000)), "too_deep");
  assertEquals(fault(`"${"[".repeat(60_000)}"`), "value");
});

Deno.test("what cannot be stored is refused, as a value and as a name", () => {
  for (const text of ['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '["a","\\u0000"]']) {
    assertEquals(fault(text), "forbidden_text", text);
  }
  assertEquals(fault('{"\\ud800":1}'), "forbidden_text");
  assertEquals(fault('"\\ud83d\\ude00"'), "value");
  assertEquals(fault('{"__proto__":1}'), "forbidden_key");
  assertEquals(fault('{"a":{"__proto__":{}}}'), "forbidden_key");
});

Deno.test("text that is no JSON is malformed", () => {
  for (const text of ["", "{", "{'a':1}", '{"a":1,}', "undefined", "NaN", '"\u0001"', "1 2"]) {
    assertEquals(fault(text), "malformed", text);
  }
});

Deno.test("a query is read as it was written", () => {
  const fields = (url: string) => {
    const query = parseQuery(url);
    return query.kind === "fields" ? query.fields : query.code;
  };
  assertEquals(fields("http://a/b"), {});
  assertEquals(fields("http://a/b?"), {});
  assertEquals(fields("http://a/b?x=1&y=a%20b+c&z"), { x: "1", y: "a b c", z: "" });
  assertEquals(fields("http://a/b?x=1#y=2"), { x: "1" });
  assertEquals(fields("http://a/b?x=1&x=2"), "duplicate_key");
  assertEquals(fields("http://a/b?x=%f"), "malformed");
  assertEquals(fields("http://a/b?x=%C0%80"), "malformed");
  assertEquals(fields("http://a/b?%00=1"), "forbidden_text");
  fc.assert(fc.property(
    fc.dictionary(fc.string({ minLength: 1, unit: "grapheme" }), fc.string({ unit: "grapheme" })),
    (sent) => {
      if (Object.entries(sent).flat().some((text) => text.includes("\0"))) return;
      if (Object.hasOwn(sent, "__proto__")) return;
      const text = new URLSearchParams(sent).toString();
      assertEquals({ ...fields(`http://a/b?${text}`) as object }, { ...sent });
    },
  ));
});

Deno.test("a number of 60,000 digits is read in no more time than it takes to walk over it", () => {
  const began = performance.now();
  const parsed = parseStrictJson(`{"amount":1${"0".repeat(60_000)}1}`);
  assert(parsed.kind === "value" && hasInexactNumber(parsed.value as object));
  // quadratic it took eight seconds
  assert(performance.now() - began < 3_000);
});
