/**
 * The HTTP interface: every route of the table, registered, guarded and answered in one place.
 *
 * @module
 */

import { logEvent } from "../log/log_event.ts";
import { Hono } from "hono";
import { findApiKeys, markKeysUsed } from "../ledger/api_keys.ts";
import { readBalances } from "../ledger/balances.ts";
import { batcher } from "../ledger/database/batcher.ts";
import { findAddressOwners } from "../ledger/deposit_addresses.ts";
import { readHostedStatuses } from "../ledger/hosted_page.ts";
import { readSettings } from "../ledger/settings.ts";
import { findSessions } from "../ledger/sessions.ts";
import { mangledLink } from "./hosted_page/problem_page.tsx";
import { POLL_SPACING_MS } from "./hosted_page/status.ts";
import { type Answer, toResponse, writeSmall } from "./http/answer.ts";
import { addressOf } from "./http/authenticate.ts";
import { isHost } from "./http/client_address.ts";
import type { ApiContext, ApiDeps } from "./http/context.ts";
import { type Bindings, serve } from "./http/serve.ts";
import { internalError, malformedHost, methodNotAllowed, notFound } from "./http/errors.ts";
import { keptFor } from "./http/kept_for.ts";
import { createKeyRing, createUsageRecorder } from "./http/key_ring.ts";
import { RateLimits } from "./http/rate_limits.ts";
import {
  createRequestMetrics,
  FailedAuthentications,
  newRequestId,
  type RequestMetrics,
} from "./http/request_log.ts";
import { earlyRefusal } from "./http/refuse_early.ts";
import type { Route } from "./http/route.ts";
import { OPS_ROUTES, ROUTES } from "./routes.ts";

/** The time that health and measurements are repeated, milliseconds: both cost more than a request. */
const KEPT_MS = 1_000;

export interface Api {
  fetch(request: Request, bindings?: Bindings): Response | Promise<Response>;
}

/**
 * The application. Serve it with `api.fetch(request, { remoteAddr, bodyRead })`.
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
  const app = new Hono<{ Bindings: Bindings }>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, ({ req, env }) => {
      const params = path === route.path ? NO_PARAMS : req.param();
      return serve(route, { request: req.raw, params, bindings: env }, context, measure);
    });
  }
  const methodsOf = methodFinder(routes);
  const hasPages = routes.some(({ problemPage }) => problemPage !== null);
  const turnAway = (
    as: Unrouted,
    { headers }: Request,
    remoteAddr: Bindings["remoteAddr"],
    answerOf: () => Answer,
  ): Response => {
    const started = performance.now();
    const asked = {
      caller: null,
      sessionHash: null,
      address: addressOf(headers, remoteAddr, context),
    };
    const answer = context.rateLimits.count("public", asked, context.clock()).refusal ?? answerOf();
    const response = textResponse(answer, newRequestId(), context);
    measure(as, answer.status, performance.now() - started);
    return response;
  };
  app.notFound((c) =>
    turnAway(UNKNOWN_PATH, c.req.raw, c.env?.remoteAddr, () => {
      const allowed = methodsOf(c.req.path);
      if (allowed.length > 0) return methodNotAllowed(allowed);
      return (hasPages ? mangledLink(c.req.raw) : null) ?? notFound;
    })
  );
  const failed = (error: unknown) => {
    const requestId = newRequestId();
    logEvent("http.unrouted_failed", { requestId, error });
    return textResponse(internalError, requestId, context);
  };
  app.onError(failed);
  const plainRoutes = plainRoutesOf(routes);
  const refuseEarly = earlyRefusal(context, measure);
  return {
    fetch(request, bindings) {
      if (!isHost(request.headers.get("host"))) {
        return turnAway(MALFORMED_HOST, request, bindings?.remoteAddr, () => malformedHost);
      }
      const route = plainRoutes.get(request.method)?.get(pathOf(request.url));
      if (route === undefined) return app.fetch(request, bindings);
      return refuseEarly(route, request, bindings?.remoteAddr) ??
        serve(route, { request, params: NO_PARAMS, bindings }, context, measure).catch(failed);
    },
  };
}

/** The names under which requests are measured that no route answers: a client chooses path and method. */
const UNKNOWN_PATH = { method: "ANY", path: "unknown path" } as const;
const MALFORMED_HOST = { method: "ANY", path: "malformed host" } as const;
type Unrouted = typeof UNKNOWN_PATH | typeof MALFORMED_HOST;

const NO_PARAMS: Readonly<Record<string, string>> = {};

/**
 * The routes whose paths have no parts to be named, by method and path. A request that is spelled just so,
 * without a query, needs no router: finding its route and making what a router hands over took a tenth of
 * what the interface does for a request.
 */
function plainRoutesOf(routes: readonly Route[]): ReadonlyMap<string, ReadonlyMap<string, Route>> {
  const plain = routes.filter(({ path }) => !path.includes("{"));
  const byMethod = Map.groupBy(plain, ({ method }): string => method);
  return new Map(
    [...byMethod].map(([method, some]) => [method, new Map(some.map((one) => [one.path, one]))]),
  );
}

/** The path of a request as it was sent, with the query. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3));
}

/** The response where no route answers. */
function textResponse(answer: Answer, requestId: string, context: ApiContext): Response {
  return toResponse(answer, writeSmall(answer.body), requestId, context.transportHeaders);
}

/** The header for clients behind a proxy that ends TLS: they use TLS alone, for a year. */
const ONLY_TLS = { "strict-transport-security": "max-age=31536000" };

function contextOf(deps: ApiDeps): ApiContext {
  const sql = deps.pools?.requests ?? deps.sql;
  const pagesSql = deps.pools?.pages ?? deps.sql;
  const settings = batcher(async () => new Map([["", await readSettings(sql)]]));
  return {
    ...deps,
    readiness: keptFor(KEPT_MS, deps.clock, deps.readiness),
    measurements: keptFor(KEPT_MS, deps.clock, () => deps.registry.metrics()),
    keys: createKeyRing(
      (hashes) => findApiKeys(sql, hashes),
      deps.environment,
      createUsageRecorder((keyIds) => markKeysUsed(sql, keyIds)),
    ),
    balances: batcher((merchantIds) => readBalances(sql, merchantIds)),
    hostedStatuses: batcher((hashes) => readHostedStatuses(pagesSql, hashes), {
      spacingMs: POLL_SPACING_MS,
    }),
    sessions: batcher((hashes) => findSessions(pagesSql, hashes), { spacingMs: POLL_SPACING_MS }),
    addressOwners: batcher((addresses) => findAddressOwners(sql, addresses)),
    rateLimits: new RateLimits(),
    transportHeaders: deps.publicUrl.startsWith("https:") ? ONLY_TLS : {},
    failedAuthentications: deps.failedAuthentications ?? new FailedAuthentications(),
    webhookTests: new Set(),
    settings: async () => {
      const found = await settings("");
      if (found === undefined) throw new Error("Cannot read settings as nothing was read");
      return found;
    },
  };
}

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
