/**
 * Who is asking, and may they: key, permission, account, in this order.
 *
 * @module
 */

import type { Answer } from "./answer.ts";
import { clientAddress, isListed } from "./client_address.ts";
import type { ApiContext } from "./context.ts";
import {
  authenticationRequired,
  errorAnswer,
  forbidden,
  merchantNotActive,
  unauthorized,
} from "./errors.ts";
import type { Holder } from "./key_ring.ts";
import { type Caller, hasAnyOf, type Permission } from "./permission.ts";
import type { Counting } from "./rate_limits.ts";
import type { Route } from "./route.ts";

/** The other end of a connection, as the server knows it. */
export interface Connection {
  readonly transport: string;
  readonly hostname?: string;
}

/** Who is asking for whom, or the answer that turns them away. */
export type Identity =
  | {
    readonly kind: "known";
    readonly caller: Caller | null;
    readonly merchantId: string | null;
  }
  /** `caller` is null where nobody was recognised. */
  | { readonly kind: "refused"; readonly answer: Answer; readonly caller: Caller | null };

const NOBODY: Identity = { kind: "known", caller: null, merchantId: null };

function refuse(answer: Answer, caller: Caller | null = null): Identity {
  return { kind: "refused", answer, caller };
}

/** Identifies the caller of a route; at once where its key is remembered. */
export function authenticate(
  route: Route,
  params: Readonly<Record<string, string>>,
  headers: Headers,
  connection: Connection | undefined,
  now: number,
  context: ApiContext,
): Identity | Promise<Identity> {
  if (route.access.scope === "public") return NOBODY;
  const key = keyOf(headers.get("authorization"));
  if (key === null) return refuse(authenticationRequired);
  let counting: Counting | null = null;
  const mayLookUp = () => {
    counting = context.rateLimits.countLookUp(addressOf(headers, connection, context), now);
    return counting.refusal === null;
  };
  const judge = (caller: Holder): Identity => {
    if (caller === "not_looked_up") return refuse(counting?.refusal ?? unauthorized);
    if (caller !== null && counting !== null) context.rateLimits.foundKey(counting);
    if (caller === null || !isAllowedFrom(caller, headers, connection, context)) {
      return refuse(unauthorized);
    }
    return authorize(route, params, caller);
  };
  const found = context.keys.find(key, now, mayLookUp);
  return found instanceof Promise ? found.then(judge) : judge(found);
}

const BEARER = /^bearer +/i;

/** The key in an Authorization header, raw or after `Bearer`; null where there is none. */
function keyOf(header: string | null): string | null {
  if (header === null) return null;
  const key = header.trim().replace(BEARER, "").trim();
  return key === "" || key.toLowerCase() === "bearer" ? null : key;
}

function isAllowedFrom(
  caller: Caller,
  headers: Headers,
  connection: Connection | undefined,
  context: ApiContext,
): boolean {
  if (caller.ipAllowlist === null) return true;
  const address = addressOf(headers, connection, context);
  return address !== null && isListed(address, caller.ipAllowlist);
}

function authorize(
  route: Route,
  params: Readonly<Record<string, string>>,
  caller: Caller,
): Identity {
  const { access } = route;
  if (route.closedTo.includes(caller.role)) return refuse(errorAnswer(route.forbidden, {}), caller);
  switch (access.scope) {
    case "public":
      return NOBODY;
    case "acting":
      if (caller.role === "ADMIN" && hasAnyOf(caller, access.adminAnyOf)) {
        return { kind: "known", caller, merchantId: null };
      }
      return authorizeOwn(route, access.anyOf, caller);
    case "own":
      return authorizeOwn(route, access.anyOf, caller);
    case "named": {
      const named = params.merchantId ?? null;
      const isOwn = named !== null && named === caller.merchantId && hasAnyOf(caller, access.anyOf);
      const isAdmin = caller.role === "ADMIN" && hasAnyOf(caller, access.adminAnyOf);
      if (!isOwn && !isAdmin) return refuse(errorAnswer(route.forbidden, {}), caller);
      if (route.needsActiveMerchant && !isAdmin && !caller.isActive) {
        return refuse(merchantNotActive, caller);
      }
      return { kind: "known", caller, merchantId: named };
    }
    case "reseller": {
      const isAdmin = caller.role === "ADMIN" && hasAnyOf(caller, access.adminAnyOf);
      const isMerchant = caller.merchantId !== null && hasAnyOf(caller, access.anyOf);
      if (!isAdmin && !isMerchant) return refuse(forbidden, caller);
      return { kind: "known", caller, merchantId: caller.merchantId };
    }
    case "admin":
      if (caller.role !== "ADMIN" || !hasAnyOf(caller, access.anyOf)) {
        return refuse(forbidden, caller);
      }
      return { kind: "known", caller, merchantId: null };
    default: {
      const never: never = access;
      return never;
    }
  }
}

function authorizeOwn(route: Route, anyOf: readonly Permission[], caller: Caller): Identity {
  if (caller.merchantId === null || !hasAnyOf(caller, anyOf)) {
    return refuse(errorAnswer(route.forbidden, {}), caller);
  }
  if (route.needsActiveMerchant && !caller.isActive) return refuse(merchantNotActive, caller);
  return { kind: "known", caller, merchantId: caller.merchantId };
}

/** Where a request came from; null where that is not known. */
export function addressOf(
  headers: Headers,
  connection: Connection | undefined,
  context: Pick<ApiContext, "trustedProxies">,
): string | null {
  return clientAddress(
    connection?.hostname,
    headers.get("x-forwarded-for"),
    context.trustedProxies,
  );
}
