/**
 * The refusal of changes that find no place, in front of the router. Of a flood most requests are refused,
 * and what each of them costs is taken from those that are let in: it is decided by the same rules as
 * behind the router, and by what is remembered alone.
 *
 * @module
 */

import { toResponse, writeSmall } from "./answer.ts";
import { type Connection, rememberedCaller } from "./authenticate.ts";
import { CROWDED } from "./change_places.ts";
import type { ApiContext } from "./context.ts";
import { newRequestId, type RequestMetrics } from "./request_log.ts";
import type { Route } from "./route.ts";
import { placeOf } from "./serve.ts";

/** Answers a request that finds no place; null: it may go on. */
export type RefuseEarly = (
  route: Route,
  request: Request,
  connection: Connection | undefined,
) => Response | null;

/**
 * Makes the refusal for the changes whose paths have no parts to be named. All others, and all that is
 * not plain, are judged behind the router.
 */
export function earlyRefusal(context: ApiContext, measure: RequestMetrics): RefuseEarly {
  const { transportHeaders, changePlaces, rateLimits } = context;
  // copies of it cost a fifth of what one costs that is made anew
  const crowded = toResponse(CROWDED, writeSmall(CROWDED.body), "", transportHeaders);
  return (route, request, connection) => {
    if (!changePlaces.isCrowded) return null;
    if (route.method === "GET" || route.access.scope === "public") return null;
    const started = performance.now();
    const now = context.clock();
    const caller = rememberedCaller(route, request.headers, connection, now, context);
    const account = placeOf(route, caller);
    if (account === null || changePlaces.hasRoom(account)) return null;
    const asked = { caller, sessionHash: null, address: null };
    const { refusal, headers } = rateLimits.count(route.rateCategory, asked, now);
    const requestId = newRequestId();
    if (refusal !== null) {
      measure(route, refusal.status, performance.now() - started);
      return toResponse(refusal, writeSmall(refusal.body), requestId, transportHeaders, headers);
    }
    changePlaces.refuse();
    measure(route, CROWDED.status, performance.now() - started);
    const response = crowded.clone();
    response.headers.set("x-request-id", requestId);
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return response;
  };
}
