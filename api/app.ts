/**
 * The HTTP interface: every route of the table, registered, guarded and answered in one place.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { type Context, Hono } from "hono";
import { findApiKeys, markKeysUsed } from "../ledger/api_keys.ts";
import { readBalances } from "../ledger/balances.ts";
import { batcher } from "../ledger/database/batcher.ts";
import { connectionFault } from "../ledger/database/connection_fault.ts";
import { findAddressOwners } from "../ledger/deposit_addresses.ts";
import { readHostedStatuses } from "../ledger/hosted_page.ts";
import { readSettings } from "../ledger/journal/read_settings.ts";
import { findSessions } from "../ledger/sessions.ts";
import { mangledLink } from "./hosted_page/mangled_link.ts";
import { POLL_SPACING_MS } from "./hosted_page/pace.ts";
import { type Answer, toResponse } from "./http/answer.ts";
import { addressOf, authenticate, type Connection } from "./http/authenticate.ts";
import type { ApiContext, ApiDeps } from "./http/context.ts";
import { countRequest } from "./http/count_request.ts";
import { isList, poolOf } from "./http/database_use.ts";
import {
  errorAnswer,
  internalError,
  isSomethingAway,
  malformedHost,
  methodNotAllowed,
  notFound,
  unauthorized,
  unavailable,
} from "./http/errors.ts";
import { FailedAuthentications } from "./http/failed_authentications.ts";
import { isHost } from "./http/host_header.ts";
import { keptFor } from "./http/kept_for.ts";
import { createKeyRing } from "./http/key_ring.ts";
import { createUsageNotes } from "./http/key_usage.ts";
import { type Counting, NOT_COUNTED, RateLimits } from "./http/rate_limits.ts";
import { readInput } from "./http/read_input.ts";
import { isReadablePath } from "./http/readable_path.ts";
import { newRequestId } from "./http/request_id.ts";
import { createRequestMetrics, type RequestMetrics } from "./http/request_metrics.ts";
import type { AnyRequest, Route } from "./http/route.ts";
import { WatchedWrites } from "./http/watched_writes.ts";
import { sizeOf, writeBody, writeSmall } from "./http/write_body.ts";
import { OPS_ROUTES, ROUTES } from "./routes.ts";

const log = getLogger(["engine", "api"]);

/** What the server gives with each request: the connection it came over. */
export interface Bindings {
  readonly remoteAddr?: Connection;
  /** Called once the whole request is there; false: its connection was ended, and nobody would hear. */
  readonly bodyRead?: () => boolean;
}

/** How long health and measurements are told again, milliseconds: both cost more than a request. */
const KEPT_MS = 1_000;

type Env = { Bindings: Bindings };

/** An application that answers requests. */
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
    log.error("request {requestId} failed: {error}", { requestId, error });
    return textResponse(internalError, requestId, context);
  });
  return {
    fetch: (request, bindings) =>
      isHost(request.headers.get("host"))
        ? app.fetch(request, bindings)
        : textResponse(malformedHost, newRequestId(), context),
  };
}

/** The response where no route answers. */
function textResponse(answer: Answer, requestId: string, context: ApiContext): Response {
  const headers = { ...context.transportHeaders, ...answer.headers };
  return toResponse({ ...answer, headers }, writeSmall(answer.body), requestId);
}

/** Where clients come over TLS, which a proxy ends, they are told to come no other way; for a year. */
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
      createUsageNotes((keyIds) => markKeysUsed(sql, keyIds)),
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

async function serve(
  route: Route,
  c: Context<Env>,
  context: ApiContext,
  measure: RequestMetrics,
): Promise<Response> {
  const started = performance.now();
  const requestId = newRequestId();
  const writes = new WatchedWrites();
  let answer: Answer;
  let counting: Counting = NOT_COUNTED;
  try {
    ({ answer, counting } = await answerTo(route, c, context, requestId, writes));
  } catch (error) {
    answer = isSomethingAway(error) ? away(writes) : internalError;
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
  const writing = writeBody(answer.body);
  let body = writing instanceof Promise ? await writing : writing;
  const weighed = context.rateLimits.weigh(counting, sizeOf(body), context.clock());
  // what has changed something is told whatever it weighs
  if (weighed.refusal !== null && route.method === "GET") {
    answer = weighed.refusal;
    body = writeSmall(answer.body);
  }
  const headers = { ...context.transportHeaders, ...weighed.headers, ...answer.headers };
  measure(route, answer.status, performance.now() - started);
  return toResponse({ ...answer, headers }, body, requestId);
}

/** What is told where the database or a node was lost: "nothing was done" only where that is known. */
function away(writes: WatchedWrites): Answer {
  if (writes.mayBeStored) return errorAnswer("outcome_unknown", {});
  return unavailable(
    "The database or the network's node cannot be reached just now; nothing was done.",
  );
}

const ANY_ORIGIN = { "access-control-allow-origin": "*" };

/** The checks that every route shares, in the documented order, and then its handler. */
async function answerTo(
  route: Route,
  c: Context<Env>,
  context: ApiContext,
  requestId: string,
  writes: WatchedWrites,
): Promise<{ readonly answer: Answer; readonly counting: Counting }> {
  const now = context.clock();
  const params = route.path.includes("{") ? c.req.param() : NO_PARAMS;
  const asked = authenticate(route, params, c.req.raw.headers, c.env?.remoteAddr, now, context);
  const identity = asked instanceof Promise ? await soon(asked) : asked;
  const { headers, url } = c.req.raw;
  const address = () => addressOf(headers, c.env?.remoteAddr, context);
  if (identity.kind === "refused" && identity.answer === unauthorized) {
    const name = `${route.method} ${route.path}`;
    context.failedAuthentications.note(address(), name, requestId, now);
  }
  const counted = countRequest(route, { identity, params, url, address, now }, context);
  const { counting, sessionHash } = counted instanceof Promise ? await counted : counted;
  const answer = counting.refusal ??
    (identity.kind === "refused"
      ? identity.answer
      : !isReadablePath(url, params)
      ? notFound
      : await withDatabase(
        route,
        { ...identity, counting, now },
        context,
        writes,
        (fitted) => handle(route, c, fitted, requestId, { ...identity, params, now }),
      ));
  if (route.rateCategory !== "hosted" || !isOfPage(answer)) return { answer, counting };
  const found = context.rateLimits.foundPage(counting, sessionHash, now);
  return { answer: found.refusal ?? answer, counting: found };
}

/** Whether a hosted page was found, open or over. */
function isOfPage({ status }: Answer): boolean {
  return status < 400 || status === 410;
}

/** How long a request waits until its key was looked up, milliseconds. */
const KEY_MS = 5_000;

/** Bounds the wait for a key, for which there may be no free connection. Nothing was done yet. */
async function soon<T>(found: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const fault = connectionFault("CONNECT_TIMEOUT", "no key was looked up in time");
    timer = setTimeout(() => reject(fault), KEY_MS);
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Gives a handler the pool of its kind; a list waits for its turn, and not for long. */
async function withDatabase(
  route: Route,
  { caller, merchantId, counting, now }:
    & Pick<AnyRequest, "caller" | "merchantId" | "now">
    & { readonly counting: Counting },
  context: ApiContext,
  writes: WatchedWrites,
  answer: (context: ApiContext) => Promise<Answer>,
): Promise<Answer> {
  const { pools } = context;
  const isOperator = caller !== null && caller.merchantId === null;
  const pool = pools === undefined ? context.sql : poolOf(route, pools, isOperator);
  if (route.method !== "GET") return await answer({ ...context, sql: writes.watch(pool) });
  if (pools === undefined) return await answer(context);
  const account = merchantId ?? caller?.merchantId ?? null;
  if (!isList(route) || account === null) return await answer({ ...context, sql: pool });
  const release = await pools.slots.take(account);
  if (release === null) return unavailable("Too many lists are read just now; nothing was done.");
  try {
    return context.rateLimits.overdrawn(counting, now) ??
      await answer({ ...context, sql: pool, doneReading: release });
  } finally {
    release();
  }
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
  // not carried out: the client is told of a broken connection, and its library may have asked again
  if (c.env?.bodyRead?.() === false) {
    return unavailable("The connection was ended; nothing was done.");
  }
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
