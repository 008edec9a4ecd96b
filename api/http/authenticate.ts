/**
 * The caller, and the limits that a request counts against: key, permission, account, in this order; then the
 * limits of a key and its merchant, a hosted page, or the client's address.
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
import type { Counted, Counting } from "./rate_limits.ts";
import { readQuery } from "./read_input.ts";
import type { Route } from "./route.ts";
import { hashSessionToken, isSessionToken } from "./session_token.ts";

/** The other end of a connection, as the server knows it. */
export interface Connection {
  readonly transport: string;
  readonly hostname?: string;
}

/** A caller that may call the route, and the merchant acted for. */
export interface KnownIdentity {
  readonly kind: "known";
  readonly caller: Caller | null;
  readonly merchantId: string | null;
}

/** The caller and the merchant acted for, or the answer that refuses them. */
export type Identity =
  | KnownIdentity
  /** `caller` is null where the key was not accepted. */
  | { readonly kind: "refused"; readonly answer: Answer; readonly caller: Caller | null };

const PUBLIC: Identity = { kind: "known", caller: null, merchantId: null };

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
  context: Pick<ApiContext, "keys" | "rateLimits" | "trustedProxies">,
): Identity | Promise<Identity> {
  if (route.access.scope === "public") return PUBLIC;
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

/**
 * The caller of a route whose key is remembered and who may use it; null for everybody else, of whom
 * {@linkcode authenticate} finds out more. Neither counts nor looks up anything.
 *
 * @param route whose path has no parts to be named
 */
export function rememberedCaller(
  route: Route,
  headers: Headers,
  connection: Connection | undefined,
  now: number,
  context: Pick<ApiContext, "keys" | "trustedProxies">,
): Caller | null {
  const key = keyOf(headers.get("authorization"));
  const caller = key === null ? null : context.keys.remembered(key, now);
  if (caller === null || !isAllowedFrom(caller, headers, connection, context)) return null;
  return authorize(route, {}, caller).kind === "known" ? caller : null;
}

const BEARER = /^bearer +/i;
/** The scheme as nearly everybody spells it, which is found sooner. */
const PLAIN_BEARER = "Bearer ";

/** The key in an Authorization header, raw or after `Bearer`; null where there is none. */
function keyOf(header: string | null): string | null {
  if (header === null) return null;
  const text = header.trim();
  const key = text.startsWith(PLAIN_BEARER)
    ? text.slice(PLAIN_BEARER.length).trim()
    : text.replace(BEARER, "").trim();
  const isSchemeAlone = key.length === "bearer".length && key.toLowerCase() === "bearer";
  return key === "" || isSchemeAlone ? null : key;
}

function isAllowedFrom(
  caller: Caller,
  headers: Headers,
  connection: Connection | undefined,
  context: Pick<ApiContext, "trustedProxies">,
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
      return PUBLIC;
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

/** The address a request came from; null where that is not known. */
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

/** The parts of a request that decide where it counts. */
export interface RequestToCount {
  readonly identity: Identity;
  /** Parts of the path as the router decoded them. */
  readonly params: Readonly<Record<string, string>>;
  /** As it was asked for. */
  readonly url: string;
  /** Finds the client's address. */
  readonly address: () => string | null;
  /** Unix milliseconds. */
  readonly now: number;
}

export interface CountedRequest {
  readonly counting: Counting;
  /** The parts of it that were counted; null for one without a valid key. */
  readonly counted: Counted | null;
}

/** Counts a request; at once where no page has to be looked up for that. */
export function countRequest(
  route: Route,
  request: RequestToCount,
  context: Pick<ApiContext, "rateLimits" | "sessions">,
): CountedRequest | Promise<CountedRequest> {
  const { identity, address, now } = request;
  const { rateLimits } = context;
  if (identity.kind === "refused" && identity.caller === null) {
    return { counting: rateLimits.countFailure(address(), now), counted: null };
  }
  const { caller } = identity;
  const token = route.rateCategory === "hosted" ? tokenOf(route, request) : null;
  const sessionHash = token === null ? null : hashSessionToken(token).toHex();
  const counted: Counted = {
    caller,
    sessionHash,
    isDocument: route.problemPage !== null,
    address: caller === null && route.rateCategory !== "none" ? address() : null,
  };
  const counting = rateLimits.count(route.rateCategory, counted, now);
  const isTurnedAway = counting.refusal !== null && rateLimits.isUnknownPage(counting);
  if (!isTurnedAway || token === null || sessionHash === null || !isSessionToken(token)) {
    return { counting, counted };
  }
  return lookUpPage(counting, sessionHash, counted, now, context);
}

/**
 * Looks up whether a page exists whose customer shares an address with a client that has used it up.
 * Those look-ups travel together, and are cheaper than the answers that they are for.
 */
async function lookUpPage(
  counting: Counting,
  sessionHash: string,
  counted: Counted,
  now: number,
  { rateLimits, sessions }: Pick<ApiContext, "rateLimits" | "sessions">,
): Promise<CountedRequest> {
  const isPage = await sessions(sessionHash) !== undefined;
  return {
    counting: isPage ? rateLimits.foundPage(counting, counted, now) : counting,
    counted,
  };
}

/** The token that the handler will look up: it is read the same way. */
function tokenOf(route: Route, { params, url }: RequestToCount): string | null {
  if (params.token !== undefined) return params.token;
  const query = readQuery(route, url);
  return query.kind === "fields" ? query.fields.token ?? null : null;
}
