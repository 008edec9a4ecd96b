import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { z } from "zod";
import { openApiDocument } from "../../api/openapi/document.ts";
import { printJson, toJsonObject } from "../../api/openapi/json_schema.ts";
import { OPERATIONS } from "../../api/routes.ts";
import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import { exampleOf } from "../../api/http/example.ts";
import { EVENT_TYPES } from "../../webhooks/events.ts";
import { eventFaults, exampleFaults } from "../support/documented.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { testsOfOneApi } from "../support/api.ts";
import { resolvedReference } from "../support/resolved_reference.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: reference");

test("reference: the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(toJsonObject(openApiDocument(OPERATIONS)));
  assertEquals(result, { valid: true });
});

test("reference: the committed document is the one that the routes and schemas make", async () => {
  const committed = await Deno.readTextFile(new URL("../../docs/openapi.json", import.meta.url));
  assert(
    committed === `${printJson(openApiDocument(OPERATIONS))}\n`,
    "docs/openapi.json is not up to date: run `deno task openapi` and review the difference",
  );
});

test("reference: the committed document is shorter than 16,000 lines and says nothing twice", async () => {
  const committed = await Deno.readTextFile(new URL("../../docs/openapi.json", import.meta.url));
  assert(committed.split("\n").length < 16_000);
  assertEquals(JSON.parse(committed), toJsonObject(openApiDocument(OPERATIONS)));
  const { paths } = Paths.parse(JSON.parse(committed));
  const errors = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap(({ responses }) =>
      Object.entries(responses).filter(([status]) => Number(status) >= 400)
        .map(([, response]) => JSON.stringify(response)).filter((text) => !/^{"\$ref"/.test(text))
    )
  );
  const twice = errors.filter((text, i) =>
    errors.indexOf(text) !== i && !text.includes("text/html")
  );
  assertEquals(twice, []);
});

Deno.test("reference: every answer of every route has a schema or a media type, and an example", () => {
  const bare = Object.entries(OPERATIONS).flatMap(([id, route]) =>
    Object.entries(route.responses).flatMap(([status, doc]) => {
      if (status === "204" || status === "304") return [];
      if (doc.schema === null) return doc.contentType === undefined ? [`${id} ${status}`] : [];
      const example = doc.examples ?? doc.example ?? exampleOf(doc.schema);
      return example === undefined ? [`${id} ${status}`] : [];
    })
  );
  assertEquals(bare, []);
});

Deno.test("reference: every example is what its schema in the document says", () => {
  assertEquals(exampleFaults(), []);
  for (const event of EVENT_TYPES) {
    assertEquals(eventFaults(event, exampleOf(EVENT_PAYLOADS[event])), []);
  }
});

const Paths = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ responses: z.record(z.string(), z.unknown()) })),
  ),
});

/** Endpoints named by the contract's section "Endpoints". */
const ENDPOINTS = `
POST /api/deposit-address
GET /api/deposit-address
POST /api/deposit-url
GET /api/deposit-url
GET /api/deposit-page/status
GET /api/deposit-page
GET /api/deposits
POST /api/deposits
GET /api/withdrawals
POST /api/withdrawals
GET /api/balance
GET /api/transactions
GET /api/exchange-rates
GET /api/settlements
POST /api/settlements
GET /api/merchants/{merchantId}/earnings
GET /api/merchants/{merchantId}/charges
POST /api/webhook/event
GET /api/resellers
GET /api/resellers/{resellerId}
GET /api/merchants/{merchantId}/reseller
PUT /api/merchants/{merchantId}/reseller
POST /api/admin/withdrawals/{withdrawalId}/approve
POST /api/admin/withdrawals/{withdrawalId}/reject
GET /api/admin/withdrawal-fees
POST /api/admin/withdrawal-fees
PUT /api/admin/withdrawal-fees`.trim().split("\n");

Deno.test("reference: every endpoint of the contract is served and documented", () => {
  const { paths } = Paths.parse(openApiDocument(OPERATIONS));
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assertEquals(ENDPOINTS.filter((endpoint) => !documented.includes(endpoint)), []);
  const served = Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`);
  assertEquals(documented.toSorted(), served.toSorted());
});

/** The two tables of the contract's section "Errors" and the limits, by status and text. */
const ERROR_ROWS: readonly (readonly [number, string, string])[] = [
  [400, "Deposits on ETH are not currently supported", "POST /api/deposit-address"],
  [400, "Deposits on ETH are not currently supported", "POST /api/deposit-url"],
  [400, "Deposits of USDC on TRX are not supported", "POST /api/deposits"],
  [400, "Withdrawals of USDC on TRX are not supported", "POST /api/withdrawals"],
  [400, "Withdrawals of USDC on TRX are not supported", "POST /api/settlements"],
  [400, "Withdrawal amount must be greater than zero", "POST /api/withdrawals"],
  [400, "Amount below minimum withdrawal", "POST /api/withdrawals"],
  [400, "No USDT balance on TRX for this account", "POST /api/withdrawals"],
  [400, "Insufficient balance", "POST /api/withdrawals"],
  [400, "Insufficient balance", "POST /api/settlements"],
  [400, "Destination address is not whitelisted for this merchant", "POST /api/settlements"],
  [400, "Token is required", "GET /api/deposit-page/status"],
  [400, "Destination does not match the registered withdrawal address", "POST /api/withdrawals"],
  [401, "Authentication required", "GET /api/balance"],
  [401, "Unauthorized", "GET /api/balance"],
  [403, "Insufficient permissions to initiate a withdrawal", "POST /api/withdrawals"],
  [403, "Merchant account is not active", "POST /api/withdrawals"],
  [403, "Merchant account is not active", "POST /api/deposit-address"],
  [403, "Merchant account is not active", "POST /api/deposit-url"],
  [403, "Insufficient permissions", "GET /api/merchants/{merchantId}/earnings"],
  [404, "Invalid token", "GET /api/deposit-page/status"],
  [409, "Duplicate referenceId", "POST /api/withdrawals"],
  [409, "Deposit address already exists", "POST /api/deposit-address"],
  [410, "Session expired", "GET /api/deposit-page/status"],
  [429, "rate_limit_exceeded", "POST /api/withdrawals"],
  [500, "Payout initiation failed", "POST /api/withdrawals"],
  [503, "Withdrawal temporarily unavailable", "POST /api/withdrawals"],
];

Deno.test("reference: every row of the contract's error tables is documented with an example", () => {
  const { paths } = Paths.parse(resolvedReference(openApiDocument(OPERATIONS)));
  const missing = ERROR_ROWS.filter(([status, error, endpoint]) => {
    const [method = "", path = ""] = endpoint.split(" ");
    const documented = JSON.stringify(
      paths[path]?.[method.toLowerCase()]?.responses[String(status)] ?? null,
    );
    return !documented.includes(`"error":${JSON.stringify(error)}`);
  });
  assertEquals(missing, []);
});

Deno.test("reference: the webhooks section holds every event and nothing else", () => {
  const { webhooks } = openApiDocument(OPERATIONS);
  assertEquals(Object.keys(toJsonObject(webhooks as object)), [...EVENT_TYPES]);
});

/** Section "Versioning" of the contract, and what changed since. */
const CHANGE_DATES = [
  "2026-11-26",
  "2026-11-24",
  "2026-11-23",
  "2026-11-22",
  "2026-08-13",
  "2026-07-31",
  "2026-07-30",
  "2026-07-24",
  "2026-07-21",
  "2026-05-05",
];

shared(
  "versioning: the reference shows the dated change record and the latest date, without a key",
  async (api) => {
    const { status, body, headers } = await api.call("GET", "/api/openapi.json");
    assertEquals(status, 200);
    assertMatch(headers.get("content-type") ?? "", /^application\/json/);
    assertEquals(body.openapi, "3.1.0");
    assertMatch(body.info.version, /^\d+\.\d+\.\d+$/);
    assertStringIncludes(body.info.description, `Latest change: **${CHANGE_DATES[0]}**`);
    assertEquals(
      body.info["x-change-record"].map(({ date }: { date: string }) => date),
      CHANGE_DATES,
    );
    assertEquals(body, toJsonObject(openApiDocument(OPERATIONS)));
    for (const path of Object.keys(body.paths)) assert(!/\/v\d/.test(path), "no version segment");

    const page = await api.call("GET", "/api/docs");
    assertEquals(page.status, 200);
    assertMatch(page.headers.get("content-type") ?? "", /^text\/html/);
    assertStringIncludes(page.body, `Latest change: <time datetime="${CHANGE_DATES[0]}">`);
    for (const date of CHANGE_DATES) assertStringIncludes(page.body, date);
  },
);

shared(
  "versioning: the interactive reference loads nothing from elsewhere and runs nothing inline",
  async (api) => {
    const page = await api.call("GET", "/api/docs");
    const policy = page.headers.get("content-security-policy") ?? "";
    assertStringIncludes(policy, "default-src 'none'");
    assertStringIncludes(policy, "script-src 'self'");
    assert(!/unsafe|https?:|\*/.test(policy), policy);
    const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) =>
      url as string
    );
    assert(loaded.length > 4);
    assert(!/<script(?![^>]*\bsrc=)|\son\w+=|<style|\sstyle=/.test(page.body), "inline code");
    for (const url of loaded) {
      assert(url.startsWith("/") || url === "data:,", url);
      if (!url.startsWith("/api/docs/")) continue;
      const file = await api.call("GET", url);
      assertEquals(file.status, 200, url);
      assertMatch(file.headers.get("content-type") ?? "", /^text\/(javascript|css)/);
      assert(!file.body.includes("@import"), "a style sheet that loads others");
    }
    assertEquals((await api.call("GET", "/api/docs/package.json")).status, 404);
    assertEquals((await api.call("GET", "/api/docs/..%2f..%2fdeno.json")).status, 404);
  },
);
