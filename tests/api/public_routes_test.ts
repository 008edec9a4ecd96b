import { assert, assertEquals, assertMatch } from "@std/assert";
import { authenticate } from "../../api/http/authenticate.ts";
import { type Caller, type KeyRole, PERMISSIONS } from "../../api/http/permission.ts";
import { RateLimits } from "../../api/http/rate_limits.ts";
import { permissionTable } from "../../api/openapi/permission_table.ts";
import { ROUTES, withoutReference } from "../../api/routes.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const COMMITTED = new URL("../../docs/permissions.md", import.meta.url);

/** A kind of key; `account` says whose it is, seen from the merchant that the path names. */
interface Kind {
  readonly name: string;
  readonly role: KeyRole;
  readonly permissions: readonly string[];
  readonly account: "named" | "other" | "suspended" | "none";
}

/** A line of the documentation, read as a person reads it. */
interface Line {
  readonly route: string;
  readonly merchant: readonly string[];
  readonly administrator: readonly string[];
  readonly isPublic: boolean;
  readonly scope: string;
  readonly needsActive: boolean;
  readonly closedTo: string;
}

const KINDS: readonly Kind[] = [
  ...PERMISSIONS.map((permission): Kind => ({
    name: `merchant, ${permission}`,
    role: "MERCHANT",
    permissions: [permission],
    account: "named",
  })),
  ...PERMISSIONS.map((permission): Kind => ({
    name: `administrator, ${permission}`,
    role: "ADMIN",
    permissions: [permission],
    account: "none",
  })),
  { name: "merchant, no permission", role: "MERCHANT", permissions: [], account: "named" },
  { name: "administrator, all", role: "ADMIN", permissions: PERMISSIONS, account: "none" },
  { name: "another merchant, all", role: "MERCHANT", permissions: PERMISSIONS, account: "other" },
  { name: "suspended, all", role: "MERCHANT", permissions: PERMISSIONS, account: "suspended" },
  { name: "reseller, all", role: "RESELLER", permissions: PERMISSIONS, account: "named" },
];

function linesOf(markdown: string): Line[] {
  return markdown.split("\n").filter((line) => line.startsWith("| `")).map((line) => {
    const [route = "", merchant = "", administrator = "", scope = "", active = "", closedTo = ""] =
      line.split("|").slice(1).map((cell) => cell.trim());
    const named = (cell: string) => cell.match(/[\w:-]+(?=`)/g) ?? [];
    return {
      route: route.replaceAll("`", ""),
      merchant: named(merchant),
      administrator: named(administrator),
      isPublic: merchant === "no key" && administrator === "no key",
      scope,
      needsActive: active === "yes",
      closedTo,
    };
  });
}

/** The status of the refusal that the documentation says, or null where the key gets past. */
function refusalOf(line: Line, kind: Kind): 403 | null {
  if (line.isPublic) return null;
  // as the text above the table says it
  const includes = (held: string, wanted: string) =>
    held === wanted || (held === "write" && wanted === "deposit") ||
    (held === "admin:write" && wanted.startsWith("admin:") && wanted !== "admin:read");
  const holds = (permissions: readonly string[]) =>
    permissions.some((wanted) => kind.permissions.some((held) => includes(held, wanted)));
  if (line.closedTo.split(", ").includes(kind.role)) return 403;
  if (kind.role === "ADMIN") return holds(line.administrator) ? null : 403;
  if (!holds(line.merchant)) return 403;
  if ((line.scope === "path" || line.scope === "line") && kind.account === "other") return 403;
  if (line.scope === "line" && kind.account === "suspended") return 403;
  return line.needsActive && kind.account === "suspended" ? 403 : null;
}

test("the documented permission table is the one that the routes make", async () => {
  assert(
    await Deno.readTextFile(COMMITTED) === `${permissionTable(ROUTES).trimEnd()}\n`,
    "docs/permissions.md is not up to date: run `deno task permissions` and review the difference",
  );
});

/** The account of a key, seen from the merchant `mer_named` that the path names. */
const ACCOUNTS = { named: "mer_named", other: "mer_other", suspended: "mer_suspended", none: null };

/** The holder of a key of a kind. */
function holderOf({ name, role, permissions, account }: Kind): Caller {
  return {
    keyId: name,
    role,
    merchantId: ACCOUNTS[account],
    isActive: account !== "suspended",
    permissions,
    administrator: null,
    needsApproval: false,
    ipAllowlist: null,
    expiresAt: null,
    rateLimits: {},
  };
}

Deno.test("every kind of key gets past the checks of exactly the routes that the table says", async () => {
  const lines = linesOf(permissionTable(ROUTES));
  const routes = new Map(ROUTES.map((route) => [`${route.method} ${route.path}`, route]));
  assertEquals(lines.map(({ route }) => route).toSorted(), [...routes.keys()].toSorted());
  const holders = new Map(KINDS.map((kind) => [kind.name, holderOf(kind)]));
  const context = {
    keys: {
      find: (key: string) => holders.get(key) ?? null,
      remembered: () => null,
      forget: () => {},
    },
    rateLimits: new RateLimits(),
    trustedProxies: [],
  };
  const differences: string[] = [];
  for (const line of lines) {
    const route = routes.get(line.route);
    assert(route !== undefined);
    const compare = async (key: string, account: Kind["account"], expected: number | null) => {
      const merchantId = account === "suspended" ? "mer_suspended" : "mer_named";
      const headers = new Headers(key === "" ? {} : { authorization: key });
      const found = await authenticate(route, { merchantId }, headers, undefined, 0, context);
      const status = found.kind === "refused" ? found.answer.status : null;
      if (status !== expected) {
        differences.push(`${line.route}, ${key}: ${status}, documented: ${expected ?? "past"}`);
      }
    };
    await compare("", "named", line.isPublic ? null : 401);
    await compare("unknown key", "named", line.isPublic ? null : 401);
    for (const kind of KINDS) {
      // the reseller in the path is compared by the handler
      const isOfAnotherLine = line.scope === "line" &&
        ["other", "suspended"].includes(kind.account);
      if (!isOfAnotherLine) await compare(kind.name, kind.account, refusalOf(line, kind));
    }
  }
  assertEquals(differences, []);
});

test("the line of a reseller is closed to the accounts of others, whatever their keys may do", async () => {
  await using api = await testApi();
  const [named, other, suspended] = [
    await api.addMerchant(),
    await api.addMerchant(),
    await api.addMerchant(),
  ];
  await api.sql`
    UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${suspended.id}`;
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_line', ${named.id}, 'Line', ${SOMEWHERE}, 'TRX')`;
  const all = { permissions: [...PERMISSIONS] };
  const keys = [await api.addKey(other.id, all), await api.addKey(suspended.id, all)];
  const own = await api.addKey(named.id, all);
  const lines = linesOf(permissionTable(ROUTES)).filter(({ scope }) => scope === "line");
  assert(lines.length > 4);
  for (const { route } of lines) {
    const [method = "", template = ""] = route.split(" ");
    const path = template.replace("{resellerId}", "rsl_line");
    const body = method === "GET" ? {} : { body: {} };
    for (const key of keys) {
      assertEquals((await api.call(method, path, { key, ...body })).status, 403, route);
    }
    assertEquals((await api.call(method, path, { key: own, ...body })).status, 200, route);
  }
});

const shared = testsOfOneApi("public routes");

const SCRIPT = "/api/docs/swagger-ui-bundle.js";
const SMALL_FILES = ["/api/docs/reference.js", "/api/openapi.json"];

/** The head of a response as it is sent, which `fetch` would decompress. */
async function head(url: string, path: string, headers: string): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const text = await new Response(connection.readable).text();
  return text.slice(0, text.indexOf("\r\n\r\n") + 2);
}

const lengthOf = (text: string) => Number(/^content-length: (\d+)\r$/m.exec(text)?.[1]);

shared(
  "files of the reference are compressed, and not sent again to those who have them",
  async (api) => {
    for (const path of [SCRIPT, "/api/docs/swagger-ui.css"]) {
      for (const accept of ["", "Accept-Encoding: identity\r\n", "Accept-Encoding: br\r\n"]) {
        const answer = await head(api.url, path, accept);
        assertMatch(answer, /^content-encoding: gzip\r$/m, path);
        assert(lengthOf(answer) < 600_000, `${lengthOf(answer)} bytes of ${path}`);
      }
    }
    for (const path of [...SMALL_FILES, "/api/docs"]) {
      const plain = await head(api.url, path, "");
      const gzip = await head(api.url, path, "Accept-Encoding: br;q=1, gzip;q=0.8\r\n");
      assertMatch(gzip, /^content-encoding: gzip\r$/m, path);
      assertMatch(gzip, /^vary: Accept-Encoding\r$/m, path);
      if (lengthOf(plain) > 5_000) assert(lengthOf(gzip) < lengthOf(plain) / 2, path);
      assert(!/^content-encoding/m.test(plain), path);
      const refusing = await head(api.url, path, "Accept-Encoding: gzip;q=0\r\n");
      assert(!/^content-encoding/m.test(refusing), path);
      for (const [accept, answer] of [["gzip", gzip], ["identity", plain]] as const) {
        const etag = /^etag: (".+")\r$/m.exec(answer)?.[1];
        const known = `Accept-Encoding: ${accept}\r\nIf-None-Match: "x", W/${etag}\r\n`;
        assertMatch(await head(api.url, path, known), /^HTTP\/1\.1 304 /, path);
        const other = `Accept-Encoding: ${accept}\r\nIf-None-Match: "x"\r\n`;
        assertMatch(await head(api.url, path, other), /^HTTP\/1\.1 200 /, path);
      }
    }
  },
);

test("health and measurements are made once a second, however many ask", async () => {
  let [now, asked] = [Date.now(), 0];
  await using api = await testApi({
    clock: () => now,
    readiness: () => {
      asked++;
      return Promise.resolve({ status: "ok", reasons: [] });
    },
  });
  const ask = () => api.call("GET", "/readyz");
  await Promise.all(Array.from({ length: 20 }, ask));
  assertEquals(asked, 1);
  now += 1_000;
  await ask();
  assertEquals(asked, 2);
  const first = await api.call("GET", "/metrics");
  assertEquals((await api.call("GET", "/metrics")).body, first.body);
  now += 1_000;
  assert((await api.call("GET", "/metrics")).body !== first.body);
});

test("every route without a key has a limit, and the reference's is per client address", async () => {
  const open = ROUTES.filter(({ access }) => access.scope === "public");
  assertEquals(open.filter(({ rateCategory }) => rateCategory === "none"), []);
  await using api = await testApi({ trustedProxies: ["127.0.0.1"] });
  const ask = (address: string, path: string) =>
    api.call("GET", path, { headers: { "x-forwarded-for": address } });
  for (let i = 0; i < 600; i++) {
    assertEquals((await ask("203.0.113.5", "/api/docs/reference.css")).status, 200);
  }
  const refused = await ask("203.0.113.5", SCRIPT);
  assertEquals([refused.status, refused.body.error], [429, "rate_limit_exceeded"]);
  assert(Number(refused.headers.get("retry-after")) > 0);
  assertEquals((await ask("203.0.113.6", SCRIPT)).status, 200);
  assertEquals((await ask("203.0.113.5", "/readyz")).status, 200, "health is counted apart");
});

shared(
  "a large file that is asked for by many requests at once is not made for all of them",
  async (api) => {
    const ask = async () => {
      const response = await api.get(SCRIPT);
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await ask(), 200);
    const statuses = Map.groupBy(
      await Promise.all(Array.from({ length: 500 }, ask)),
      (status) => status,
    );
    const served = statuses.get(200)?.length ?? 0;
    assert(served <= 30, `${served} of 500 were served`);
    assertEquals(statuses.get(429)?.length, 500 - served);
  },
);

test("what no route answers is limited per client address as well", async () => {
  await using api = await testApi();
  const statuses = new Map<number, number>();
  for (let i = 0; i < 605; i++) {
    const response = await fetch(`${api.url}/deposit/nothing/here/${i}`);
    await response.body?.cancel();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  assertEquals([...statuses], [[404, 600], [429, 5]]);
});

Deno.test("a path without parts to be named is no other route's of its method", () => {
  // such a route is found by its path as it is spelled, all others by the router, in the table's order
  const isPlain = ({ path }: { readonly path: string }) => !path.includes("{");
  const hidden = ROUTES.filter(isPlain).filter(({ method, path }) =>
    ROUTES.filter((other) =>
      other.method === method &&
      new RegExp(`^${other.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path)
    ).length !== 1
  );
  assertEquals(hidden.map(({ method, path }) => `${method} ${path}`), []);
});

Deno.test("without the reference nothing of it is served, and all else is", () => {
  const left = new Set(withoutReference(ROUTES));
  const gone = ROUTES.filter((route) => !left.has(route)).map(({ path }) => path);
  assertEquals(gone, ["/api/openapi.json", "/api/docs", "/api/docs/{file}"]);
});

Deno.test("a large answer counts as more requests, one of ordinary rows as one", () => {
  const limits = new RateLimits();
  const request = { caller: null, sessionHash: null, address: "203.0.113.5" };
  const left = (bytes: number): string | undefined =>
    limits.weigh(limits.count("public", request, 0), bytes, 0).headers["ratelimit-remaining"];
  assertEquals(left(0), "599");
  assertEquals(left(128 * 1_024), "598");
  assertEquals(left(128 * 1_024 + 1), "596");
  assertEquals(left(1_024 * 1_024), "539");
  // one answer uses up what is left, and never more than the limit
  assertEquals(left(1_024 * 1_024 * 1_024), "0");
  assertEquals(limits.count("public", request, 1).refusal?.status, 429);
  assertEquals(limits.count("public", request, 60_000).refusal, null);
});

test("only files of the reference are served under its address", async () => {
  await using api = await testApi();
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "..%2Fmain.ts"]) {
    assertEquals((await api.call("GET", `/api/docs/${name}`)).status, 404, name);
  }
});
