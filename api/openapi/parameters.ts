/**
 * The parameters of an operation: parts of the path, query, headers.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import type { Json, JsonObject } from "./json.ts";
import { type Components, schemaOf } from "./json_schema.ts";

/** What a client may say outside the body. */
export function parametersOf(route: Route, components: Components): readonly JsonObject[] {
  return [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => inPath(name ?? "")),
    ...(route.query === null ? [] : inQuery(schemaOf(route.query, "input", components))),
    ...route.headers.map((header) => ({
      name: header.name,
      in: "header",
      required: header.required ?? false,
      description: header.description,
      schema: schemaOf(header.schema, "input", components),
    })),
  ];
}

function inPath(name: string): JsonObject {
  return { name, in: "path", required: true, schema: { type: "string" } };
}

function inQuery(schema: JsonObject): readonly JsonObject[] {
  const required: Json = schema.required ?? [];
  return Object.entries(objectOf(schema.properties)).map(([name, property]) => {
    const { description, ...rest } = objectOf(property);
    return {
      name,
      in: "query",
      required: Array.isArray(required) && required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function objectOf(value: Json | undefined): JsonObject {
  if (typeof value !== "object" || value === null || isList(value)) {
    throw new TypeError("Cannot document a query as its schema is no object");
  }
  return value;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
