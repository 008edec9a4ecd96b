import { assert, assertEquals, assertMatch } from "@std/assert";
import { ROUTES, withoutReference } from "../../api/routes.ts";
import { RateLimits } from "../../api/http/rate_limits.ts";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const SCRIPT = "/api/docs/swagger-ui-bundle.js";
const SMALL_FILES = ["/api/docs/reference.js", "/api/openapi.json"];

/** What is really sent, which `fetch` would decompress. */
async function head(url: string, path: string, headers: string): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const text = await new Response(connection.readable).text();
  return text.slice(0, text.indexOf("\r\n\r\n") + 2);
}

const lengthOf = (text: string) => Number(/^content-length: (\d+)\r$/m.exec(text)?.[1]);

test("files of the reference are compressed, and not sent again to those who have them", async () => {
  await using api = await testApi();
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
});

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

test("a large file that is asked for by many requests at once is not made for all of them", async () => {
  await using api = await testApi();
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
});

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
