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
import { type Bindings, type Env, serve } from "./http/serve.ts";
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
  const app = new Hono<Env>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, (c) => serve(route, c, context, measure));
  }
  const methodsOf = methodFinder(routes);
  const hasPages = routes.some(({ problemPage }) => problemPage !== null);
  app.notFound((c) => {
    const address = addressOf(c.req.raw.headers, c.env?.remoteAddr, context);
    const asked = { caller: null, sessionHash: null, address };
    const { refusal } = context.rateLimits.count("public", asked, context.clock());
    if (refusal !== null) return textResponse(refusal, newRequestId(), context);
    const allowed = methodsOf(c.req.path);
    const answer = allowed.length > 0
      ? methodNotAllowed(allowed)
      : (hasPages ? mangledLink(c.req.raw) : null) ?? notFound;
    return textResponse(answer, newRequestId(), context);
  });
  app.onError((error) => {
    const requestId = newRequestId();
    logEvent("http.unrouted_failed", { requestId, error });
    return textResponse(internalError, requestId, context);
  });
  const refuseEarly = earlyRefusal(routes, context, measure);
  return {
    fetch: (request, bindings) =>
      isHost(request.headers.get("host"))
        ? refuseEarly(request, bindings?.remoteAddr) ?? app.fetch(request, bindings)
        : textResponse(malformedHost, newRequestId(), context),
  };
}

/** The response where no route answers. */
function textResponse(answer: Answer, requestId: string, context: ApiContext): Response {
  const headers = { ...context.transportHeaders, ...answer.headers };
  return toResponse({ ...answer, headers }, writeSmall(answer.body), requestId);
}

/** The header for clients behind a proxy that ends TLS: they use TLS alone, for a year. */
const ONLY_TLS = { "strict-transport-security": "max-age=31536000" };

function contextOf(deps: ApiDeps): ApiContext {
  const sql = deps.pools?.requests ?? deps.sql;
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
    hostedStatuses: batcher((hashes) => readHostedStatuses(sql, hashes), {
      spacingMs: POLL_SPACING_MS,
    }),
    sessions: batcher((hashes) => findSessions(sql, hashes), { spacingMs: POLL_SPACING_MS }),
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
