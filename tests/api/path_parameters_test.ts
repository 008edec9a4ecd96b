import { assert, assertEquals } from "@std/assert";
import { configure, reset } from "@logtape/logtape";
import { isHost } from "../../api/http/client_address.ts";
import { isReadablePath } from "../../api/http/request_url.ts";
import { ROUTES } from "../../api/routes.ts";
import { booksFaults } from "../support/books.ts";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

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

test("every route with parameters answers 404 to a part of its path that is not text", async () => {
  await using api = await testApi();
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
      assertEquals(told, [404, { error: "Not found" }], `${method} ${asked}`);
    }
  }
});

test("a storm of paths with NUL costs other merchants no withdrawal", async () => {
  await using api = await testApi();
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
