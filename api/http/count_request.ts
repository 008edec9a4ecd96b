/**
 * Counting of requests: against a key and its merchant, a hosted page, or the client's address.
 *
 * @module
 */

import type { Identity } from "./authenticate.ts";
import type { ApiContext } from "./context.ts";
import type { Counting } from "./rate_limits.ts";
import { readQuery } from "./read_input.ts";
import type { Route } from "./route.ts";
import { hashSessionToken, isSessionToken } from "./session_token.ts";

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

/** A request that was counted. */
export interface CountedRequest {
  readonly counting: Counting;
  /** Of a hosted page: hash of the token that the handler will look up, hex; otherwise null. */
  readonly sessionHash: string | null;
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
    return { counting: rateLimits.countFailure(address(), now), sessionHash: null };
  }
  const { caller } = identity;
  const token = route.rateCategory === "hosted" ? tokenOf(route, request) : null;
  const sessionHash = token === null ? null : hashSessionToken(token).toHex();
  const counting = rateLimits.count(route.rateCategory, {
    caller,
    sessionHash,
    address: caller === null && route.rateCategory !== "none" ? address() : null,
  }, now);
  const isTurnedAway = counting.refusal !== null && rateLimits.isUnknownPage(counting);
  if (!isTurnedAway || token === null || sessionHash === null || !isSessionToken(token)) {
    return { counting, sessionHash };
  }
  return lookAgain(counting, sessionHash, now, context);
}

/**
 * Looks up whether a page exists whose customer shares an address with a client that has used it up.
 * Those look-ups travel together, and are cheaper than the answers that they are for.
 */
async function lookAgain(
  counting: Counting,
  sessionHash: string,
  now: number,
  { rateLimits, sessions }: Pick<ApiContext, "rateLimits" | "sessions">,
): Promise<CountedRequest> {
  const isPage = await sessions(sessionHash) !== undefined;
  return {
    counting: isPage ? rateLimits.foundPage(counting, sessionHash, now) : counting,
    sessionHash,
  };
}

/** The token that the handler will look up: it is read the same way. */
function tokenOf(route: Route, { params, url }: RequestToCount): string | null {
  if (params.token !== undefined) return params.token;
  const query = readQuery(route, url);
  return query.kind === "fields" ? query.fields.token ?? null : null;
}
