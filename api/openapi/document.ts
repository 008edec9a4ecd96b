/**
 * The API reference as an OpenAPI 3.1 document, made from the very routes and schemas that serve
 * and validate.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import { CHANGE_RECORD, latestChange } from "./change_record.ts";
import { errorCode } from "./errors.ts";
import { eventsOf } from "./events.ts";
import { type Components, type JsonObject, schemaOf, toJsonObject } from "./json_schema.ts";
import { operationOf } from "./operation.ts";
import { sharedParts } from "./shared_parts.ts";
import { tagOf, TAGS } from "./tags.ts";
import { VERSION } from "../http/version.ts";

const CONVENTIONS = `Accept and send stablecoin payments.

- **Money** is a decimal string in both directions, never a JSON number. Responses are canonical:
  no exponent, no trailing zeros.
- **Time** is ISO 8601 in UTC.
- **Ids** are opaque strings.
- **Lists** are newest first and carry \`pagination\` \`{total, page, limit, pages}\`.
- **Errors** are \`{error, code, message?, details?}\`: \`error\` for people, \`code\` for programs (every
  one is in \`ErrorCode\`). Every response has an \`X-Request-Id\`.
- **Balances** are separate per (currency, network): what came in on one chain goes out on it.
- **Limits**: \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds left)
  tell where a key stands; a 429 says in \`Retry-After\` when to go on. An answer of more than
  128 KiB counts as one more request for every further 16 KiB. A merchant's keys together have four
  times the requests of one key.

Send the API key as \`Authorization: <API_KEY>\` or \`Authorization: Bearer <API_KEY>\`.`;

/**
 * The whole document.
 *
 * @param operations every route by its operation id
 */
export function openApiDocument(operations: Readonly<Record<string, Route>>): JsonObject {
  const components: Components = { schemas: new Map(), examples: new Map() };
  const shared = sharedParts(
    new Map(
      Object.entries(operations).map(([id, route]) => [id, operationOf(id, route, components)]),
    ),
  );
  const paths = new Map<string, JsonObject>();
  for (const [operationId, operation] of shared.operations) {
    const route = operations[operationId];
    if (route === undefined) continue;
    paths.set(route.path, {
      ...paths.get(route.path),
      [route.method.toLowerCase()]: operation,
    });
  }
  const webhooks = eventsOf(components);
  schemaOf(errorCode, "output", components);
  const used = new Set(Object.values(operations).map(({ path }) => tagOf(path)));
  return {
    openapi: "3.1.0",
    info: {
      title: "Stablecoin Payments API",
      version: VERSION,
      summary: "Deposits, withdrawals, settlements and balances in stablecoins",
      description: `${CONVENTIONS}\n\n${changeTable()}`,
      "x-change-record": CHANGE_RECORD.map((change) => toJsonObject(change)),
    },
    servers: [{ url: "/", description: "This environment" }],
    tags: [
      ...TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({
        name,
        description,
      })),
      { name: "Events", description: "Callbacks that the service sends to your `webhookUrl`" },
    ],
    paths: Object.fromEntries(paths),
    webhooks,
    components: {
      schemas: byName(components.schemas),
      examples: byName(components.examples),
      responses: shared.responses,
      parameters: shared.parameters,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function byName(parts: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...parts].toSorted(([a], [b]) => a < b ? -1 : 1));
}

function changeTable(): string {
  return [
    `## Changes\n\nLatest change: **${latestChange()}** (dates are UTC; paths carry no version).\n`,
    "| Date | Change |",
    "|---|---|",
    ...CHANGE_RECORD.map(({ date, change }) => `| ${date} | ${change} |`),
  ].join("\n");
}

const HEADERS: JsonObject = {
  "X-Request-Id": {
    description: "Names this request in the service's log",
    schema: { type: "string", examples: ["req_0198a2c47d107c3e9b523f6e1c0d8a41"] },
  },
  "RateLimit-Limit": {
    description: "Requests per minute",
    schema: { type: "integer", minimum: 0 },
  },
  "RateLimit-Remaining": {
    description: "Requests left in this window",
    schema: { type: "integer", minimum: 0 },
  },
  "RateLimit-Reset": {
    description: "Seconds until the window ends",
    schema: { type: "integer", minimum: 0 },
  },
  "Retry-After": {
    description: "Seconds after which a repetition is worth it",
    schema: { type: "integer", minimum: 0 },
  },
  "Access-Control-Allow-Origin": {
    description: "Pages of any origin may read the answer",
    schema: { const: "*" },
  },
};

const SECURITY_SCHEMES: JsonObject = {
  ApiKey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "The raw key: `Authorization: sk_production_...`",
  },
  Bearer: {
    type: "http",
    scheme: "bearer",
    description: "The key after `Bearer`: `Authorization: Bearer sk_production_...`",
  },
};
