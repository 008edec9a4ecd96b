/**
 * Errors that a route has because of what it is: it needs a key, it reads a body, it is limited.
 *
 * @module
 */

import type { Route } from "../http/route.ts";
import {
  authenticationRequiredDoc,
  bodyTooLargeDoc,
  forbiddenDoc,
  internalErrorDoc,
  invalidRequestDoc,
  outcomeUnknownDoc,
  rateLimitExceededDoc,
  REFUSALS,
  unauthorizedDoc,
  unavailableDoc,
  unsupportedMediaTypeDoc,
  withdrawalForbiddenDoc,
} from "./error_catalogue.ts";
import type { ErrorDoc } from "./error_doc.ts";

/** The errors of a route that it does not have to name. */
export function sharedErrors(route: Route): readonly ErrorDoc[] {
  if (route.path.startsWith("/api/docs") || route.rateCategory === "health") {
    return [invalidRequestDoc, rateLimitExceededDoc, internalErrorDoc];
  }
  const isKeyed = route.access.scope !== "public";
  return [
    invalidRequestDoc,
    ...(isKeyed ? [authenticationRequiredDoc, unauthorizedDoc, forbiddenOf(route)] : []),
    ...(route.needsActiveMerchant ? [REFUSALS.merchant_not_active] : []),
    ...(isKeyed || route.rateCategory !== "none" ? [rateLimitExceededDoc] : []),
    ...(route.body === null ? [] : [bodyTooLargeDoc, unsupportedMediaTypeDoc]),
    internalErrorDoc,
    ...(isKeyed && route.method !== "GET" ? [outcomeUnknownDoc] : []),
    unavailableDoc,
  ];
}

function forbiddenOf(route: Route): ErrorDoc {
  switch (route.forbiddenText) {
    case undefined:
      return forbiddenDoc;
    case "Insufficient permissions to initiate a withdrawal":
      return withdrawalForbiddenDoc;
    default:
      throw new TypeError(`Cannot document a 403 as its text is new: ${route.forbiddenText}`);
  }
}
