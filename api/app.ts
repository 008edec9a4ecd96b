/**
 * The HTTP interface: every route of the table, registered, guarded and answered in one place.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { type Context, Hono } from "hono";
import { markKeysUsed } from "../ledger/admin/mark_keys_used.ts";
import { batcher } from "../ledger/queries/batcher.ts";
import { findApiKeys } from "../ledger/queries/find_api_keys.ts";
import { findOwnAddresses } from "../ledger/queries/find_own_addresses.ts";
import { readHostedStatuses } from "../ledger/queries/read_hosted_statuses.ts";
import { readBalances } from "../ledger/queries/read_balances.ts";
import { readSettings } from "../ledger/journal/read_settings.ts";
import { type Answer, toResponse } from "./answer.ts";
import { addressOf, authenticate, type Connection } from "./authenticate.ts";
import type { ApiContext, ApiDeps } from "./context.ts";
import {
  internalError,
  isSomethingAway,
  methodNotAllowed,
  notFound,
  unavailable,
} from "./errors.ts";
import { createKeyRing } from "./key_ring.ts";
import { createUsageNotes } from "./key_usage.ts";
import { RateLimits } from "./rate_limits.ts";
import { createRequestMetrics, type RequestMetrics } from "./request_metrics.ts";
import { mangledLink } from "./hosted_page/mangled_link.ts";
import { POLL_SPACING_MS } from "./hosted_page/pace.ts";
import { newRequestId } from "./request_id.ts";
import { readInput } from "./read_input.ts";
import type { AnyRequest, Route } from "./route.ts";
import { OPS_ROUTES, ROUTES } from "./routes.ts";

const log = getLogger(["engine", "api"]);

/** What the server gives with each request: the connection it came over. */
export interface Bindings {
  readonly remoteAddr?: Connection;
}

type Env = { Bindings: Bindings };

/** An application of Hono's. */
export type Api = Hono<Env>;

/**
 * The application. Serve it with
 * `Deno.serve((request, info) => api.fetch(request, { remoteAddr: info.remoteAddr }))`.
 *
 * @param routes every route, or only {@linkcode MERCHANT_ROUTES} where the operators' have an
 *   address of their own, see {@linkcode createOps}
 */
export function createApi(deps: ApiDeps, routes: readonly Route[] = ROUTES): Api {
  return appOf(routes, contextOf(deps), createRequestMetrics(deps.registry));
}

/** Health and metrics alone, for an address that only operators reach. */
export function createOps(deps: ApiDeps): Api {
  return appOf(OPS_ROUTES, contextOf(deps), () => {});
}

function appOf(routes: readonly Route[], context: ApiContext, measure: RequestMetrics): Api {
  const app = new Hono<Env>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, (c) => serve(route, c, context, measure));
  }
  const methodsOf = methodFinder(routes);
  const hasPages = routes.some(({ problemPage }) => problemPage !== null);
  app.notFound((c) => {
    const allowed = methodsOf(new URL(c.req.url).pathname);
    const answer = allowed.length > 0
      ? methodNotAllowed(allowed)
      : (hasPages ? mangledLink(c.req.raw) : null) ?? notFound;
    return toResponse(answer, newRequestId());
  });
  app.onError((error) => {
    const requestId = newRequestId();
    log.error("request {requestId} failed: {error}", { requestId, error });
    return toResponse(internalError, requestId);
  });
  return app;
}

function contextOf(deps: ApiDeps): ApiContext {
  const { sql } = deps;
  const settings = batcher(async () => new Map([["", await readSettings(sql)]]));
  return {
    ...deps,
    keys: createKeyRing(
      (hashes) => findApiKeys(sql, hashes),
      deps.environment,
      createUsageNotes((keyIds) => markKeysUsed(sql, keyIds)),
    ),
    balances: batcher((merchantIds) => readBalances(sql, merchantIds)),
    hostedStatuses: batcher((hashes) => readHostedStatuses(sql, hashes), {
      spacingMs: POLL_SPACING_MS,
    }),
    isOwnAddress: batcher((addresses) => findOwnAddresses(sql, addresses)),
    rateLimits: new RateLimits(),
    settings: async () => {
      const found = await settings("");
      if (found === undefined) throw new Error("Cannot read settings as nothing was read");
      return found;
    },
  };
}

async function serve(
  route: Route,
  c: Context<Env>,
  context: ApiContext,
  measure: RequestMetrics,
): Promise<Response> {
  const started = performance.now();
  const requestId = newRequestId();
  let answer: Answer;
  try {
    answer = await answerTo(route, c, context, requestId);
  } catch (error) {
    answer = isSomethingAway(error)
      ? unavailable(
        "The database or the network's node cannot be reached just now; nothing was done.",
      )
      : internalError;
    log.error("request {requestId} to {method} {path} failed: {error}", {
      requestId,
      method: route.method,
      path: route.path,
      error,
    });
  }
  if (route.problemPage !== null && answer.status >= 400 && typeof answer.body === "object") {
    answer = route.problemPage(answer, { headers: c.req.raw.headers });
  }
  if (route.anyOrigin) answer = { ...answer, headers: { ...ANY_ORIGIN, ...answer.headers } };
  measure(route, answer.status, performance.now() - started);
  return toResponse(answer, requestId);
}

const ANY_ORIGIN = { "access-control-allow-origin": "*" };

/** The checks that every route shares, in the documented order, and then its handler. */
async function answerTo(
  route: Route,
  c: Context<Env>,
  context: ApiContext,
  requestId: string,
): Promise<Answer> {
  const now = context.clock();
  const params = route.path.includes("{") ? c.req.param() : NO_PARAMS;
  const found = authenticate(route, params, c.req.raw.headers, c.env?.remoteAddr, now, context);
  const identity = found instanceof Promise ? await found : found;
  const { headers } = c.req.raw;
  const address = () => addressOf(headers, c.env?.remoteAddr, context);
  const counting = identity.kind === "refused" && identity.caller === null
    ? context.rateLimits.countFailure(address(), now)
    : context.rateLimits.count(route.rateCategory, {
      caller: identity.caller,
      sessionToken: route.rateCategory === "hosted"
        ? params.token ?? c.req.query("token") ?? null
        : null,
      address: identity.caller === null && route.rateCategory !== "none" ? address() : null,
    }, now);
  const answer = counting.refusal ??
    (identity.kind === "refused"
      ? identity.answer
      : await handle(route, c, context, requestId, { ...identity, params, now }));
  return { ...answer, headers: { ...counting.headers, ...answer.headers } };
}

/** Reads what a known caller sent and lets the route's handler answer it. */
async function handle(
  route: Route,
  c: Context<Env>,
  context: ApiContext,
  requestId: string,
  identity: Pick<AnyRequest, "caller" | "merchantId" | "params" | "now">,
): Promise<Answer> {
  const { caller, merchantId, params, now } = identity;
  const { headers } = c.req.raw;
  const input = await readInput(
    route,
    c.req.raw,
    (body) => route.verify?.({ body, headers, now }, context) ?? null,
  );
  if (input.kind === "refused") return input.answer;
  const request: AnyRequest = {
    caller,
    merchantId,
    params,
    query: input.query,
    body: input.body,
    headers,
    now,
    requestId,
  };
  return await route.handler(request, context);
}

const NO_PARAMS: Readonly<Record<string, string>> = {};

/** Tells the methods that a path answers to; none where there is no such path. */
function methodFinder(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = routes.map((route) => ({
    method: route.method,
    pattern: new RegExp(
      `^${route.path.split(/\{\w+\}/).map((part) => RegExp.escape(part)).join("[^/]+")}$`,
    ),
  }));
  return (path) => {
    const found = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    return found.includes("GET") ? [...found, "HEAD"] : found;
  };
}
