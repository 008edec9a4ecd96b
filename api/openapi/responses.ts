/**
 * The `responses` of an operation.
 *
 * @module
 */

import type { z } from "zod";
import { exampleOf } from "../http/example.ts";
import type { ResponseDoc, Route } from "../http/route.ts";
import { type ErrorDoc, errorsOf } from "./errors.ts";
import { type Components, type JsonObject, schemaOf, toJson } from "./json_schema.ts";

/** Everything a route may answer, by status. */
export function responsesOf(
  route: Route,
  components: Components,
): Readonly<Record<string, JsonObject>> {
  const byStatus = new Map<number, ErrorDoc[]>();
  for (const doc of errorsOf(route)) {
    byStatus.set(doc.example.status, [...byStatus.get(doc.example.status) ?? [], doc]);
  }
  const responses: [string, JsonObject][] = [];
  for (const [status, doc] of Object.entries(route.responses)) {
    responses.push([status, success(route, Number(status), doc, components)]);
  }
  for (const [status, docs] of byStatus) {
    responses.push([String(status), failure(route, status, docs, components)]);
  }
  return Object.fromEntries(responses.toSorted(([a], [b]) => Number(a) - Number(b)));
}

const REQUEST_ID = headersNamed("X-Request-Id");
const RETRY_AFTER = headersNamed("Retry-After");
const ANY_ORIGIN = headersNamed("Access-Control-Allow-Origin");
const LIMITS = headersNamed("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");

function headersNamed(...names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Headers of every answer of a route. */
function commonHeaders(route: Route): JsonObject {
  return route.anyOrigin ? { ...REQUEST_ID, ...ANY_ORIGIN } : REQUEST_ID;
}

/** An answer that is no error body: also that of a node which says that it cannot serve. */
function success(
  route: Route,
  status: number,
  doc: ResponseDoc,
  components: Components,
): JsonObject {
  const headers = {
    ...commonHeaders(route),
    ...(status === 503 ? RETRY_AFTER : {}),
    ...(route.rateCategory === "none" ? {} : LIMITS),
  };
  const contentType = doc.contentType ?? "application/json";
  if (doc.schema === null && doc.contentType === undefined) {
    return { description: doc.description, headers };
  }
  return {
    description: doc.description,
    headers,
    content: {
      [contentType]: {
        schema: doc.schema === null
          ? { type: contentType === "application/json" ? "object" : "string" }
          : schemaOf(doc.schema, "output", components),
        ...examplesOf(route, doc),
      },
    },
  };
}

function examplesOf(route: Route, doc: ResponseDoc): JsonObject {
  const { schema, examples } = doc;
  if (examples === undefined) {
    const example = doc.example ?? (schema === null ? undefined : exampleOf(schema));
    if (example === undefined) return {};
    refuseWrong(schema, example, `${route.method} ${route.path}`);
    return { example: toJson(example) };
  }
  for (const [name, example] of Object.entries(examples)) {
    refuseWrong(schema, example, `${route.method} ${route.path}, ${name}`);
  }
  return {
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { value: toJson(value) }]),
    ),
  };
}

function failure(
  route: Route,
  status: number,
  docs: readonly ErrorDoc[],
  components: Components,
): JsonObject {
  const schemas = new Map<string, JsonObject>();
  for (const doc of docs) {
    refuseWrong(doc.schema, doc.example.body, doc.name);
    const schema = schemaOf(doc.schema, "output", components);
    schemas.set(JSON.stringify(schema), schema);
  }
  const [first, ...more] = schemas.values();
  if (first === undefined) {
    throw new TypeError(`Cannot document a status without errors: ${status}`);
  }
  return {
    description: docs.map(({ description }) => description).join("; "),
    headers: {
      ...commonHeaders(route),
      ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
    },
    content: {
      "application/json": {
        schema: more.length === 0 ? first : { anyOf: [first, ...more] },
        examples: Object.fromEntries(
          docs.map((doc) => [doc.name, errorExample(doc, components)]),
        ),
      },
      ...(route.problemPage === null ? {} : { "text/html": { schema: { type: "string" } } }),
    },
  };
}

/** A reference to the example of an error. */
function errorExample(
  { name, description, example }: ErrorDoc,
  components: Components,
): JsonObject {
  components.examples.set(name, { summary: description, value: toJson(example.body) });
  return { $ref: `#/components/examples/${name}` };
}

/** An example that its own schema refuses is a bug. */
function refuseWrong(schema: z.ZodType | null, example: unknown, name: string): void {
  const checked = schema?.safeParse(example);
  if (checked === undefined || checked.success) return;
  throw new TypeError(`Cannot show an example as its schema refuses it: ${name}: ${checked.error}`);
}
