/**
 * One endpoint of the API reference.
 *
 * @module
 */

import { DEFAULT_LIMITS, type RateCategory } from "../http/rate_limits.ts";
import type { Access, Route } from "../http/route.ts";
import { type Components, type Json, type JsonObject, schemaOf } from "./json_schema.ts";
import { responsesOf } from "./responses.ts";
import type { Operation } from "./shared_parts.ts";
import { tagOf } from "./tags.ts";

export function operationOf(
  operationId: string,
  route: Route,
  components: Components,
): Operation {
  const parameters = parametersOf(route, components);
  const facts = {
    operationId,
    summary: route.summary,
    description: descriptionOf(route),
    tags: [tagOf(route.path)],
    security: route.access.scope === "public" ? [] : [{ ApiKey: [] }, { Bearer: [] }],
    ...(route.body === null ? {} : {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { "application/json": { schema: schemaOf(route.body, "input", components) } },
      },
    }),
  };
  return { parameters, responses: responsesOf(route, components), facts };
}

function descriptionOf(route: Route): string {
  const rules = [
    whoMay(route.access),
    ...(route.needsActiveMerchant ? ["The merchant account must be ACTIVE."] : []),
    ...(route.rateCategory === "none" ? [] : [limitOf(route.rateCategory)]),
  ].join(" ");
  return route.description === null ? rules : `${route.description}\n\n${rules}`;
}

function limitOf(category: Exclude<RateCategory, "none">): string {
  return `Limit: ${category}, ${DEFAULT_LIMITS[category]} requests per minute and ${
    bucketOf(category)
  }.`;
}

function bucketOf(category: Exclude<RateCategory, "none">): string {
  if (category === "hosted") {
    return `session, ${DEFAULT_LIMITS.pagesOfAddress} of all sessions per client address, ` +
      `${DEFAULT_LIMITS.documentsOfAddress} of them pages; what opens no page counts among ${DEFAULT_LIMITS.unknownPage}`;
  }
  return category === "public" || category === "health" ? "client address" : "key";
}

function whoMay(access: Access): string {
  switch (access.scope) {
    case "public":
      return "No API key.";
    case "own":
      return `Permission: ${anyOf(access.anyOf)}.`;
    case "acting":
      return `Permission: ${anyOf(access.anyOf)}; ${anyOf(access.adminAnyOf)} for an ` +
        "administrator, who names the merchant.";
    case "named":
      return `Permission: ${anyOf(access.anyOf)} for the merchant itself, ` +
        `${anyOf(access.adminAnyOf)} for an administrator.`;
    case "reseller":
      return `Permission: ${anyOf(access.anyOf)} for the reseller itself, ` +
        `${anyOf(access.adminAnyOf)} for an administrator.`;
    case "admin":
      return `Permission: ${anyOf(access.anyOf)}; administrators only.`;
    default: {
      const never: never = access;
      return never;
    }
  }
}

function anyOf(permissions: readonly string[]): string {
  return permissions.map((permission) => `\`${permission}\``).join(" or ");
}

function parametersOf(route: Route, components: Components): readonly JsonObject[] {
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
