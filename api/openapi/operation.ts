/**
 * One endpoint of the API reference.
 *
 * @module
 */

import { DEFAULT_LIMITS } from "../http/rate_limits.ts";
import type { Access, RateCategory, Route } from "../http/route.ts";
import { type Components, schemaOf } from "./json_schema.ts";
import { parametersOf } from "./parameters.ts";
import { responsesOf } from "./responses.ts";
import type { Operation } from "./shared_parts.ts";
import { tagOf } from "./tags.ts";

/** The operation object of a route. */
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

/** What each limit is counted for. */
function bucketOf(category: Exclude<RateCategory, "none">): string {
  if (category === "hosted") {
    return `session; what opens no page counts among ${DEFAULT_LIMITS.unknownPage} per client address`;
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
