/**
 * The way of a request: who asks, what it counts against, the pool and the input of its handler, and
 * its answer.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { connectionFault } from "../../ledger/database/database_errors.ts";
import { type Answer, sizeOf, toResponse, writeBody, writeSmall } from "./answer.ts";
import {
  addressOf,
  authenticate,
  type Connection,
  countRequest,
  type Identity,
  type KnownIdentity,
} from "./authenticate.ts";
import { CROWDED, type Place } from "./change_places.ts";
import type { ApiContext } from "./context.ts";
import {
  errorAnswer,
  internalError,
  isSomethingAway,
  notFound,
  unauthorized,
  unavailable,
} from "./errors.ts";
import { type Counting, NOT_COUNTED } from "./rate_limits.ts";
import { readInput } from "./read_input.ts";
import type { ApiPools } from "./read_slots.ts";
import { newRequestId, type RequestMetrics } from "./request_log.ts";
import { isReadablePath } from "./request_url.ts";
import type { AnyRequest, Route } from "./route.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import { WatchedWrites } from "./watched_writes.ts";

/** The server's part of each request: the connection it came over. */
export interface Bindings {
  readonly remoteAddr?: Connection;
  /** Called once the whole request is there; false: its connection was ended, and no answer arrives. */
  readonly bodyRead?: () => boolean;
}

/** A request of a route, as it came. */
export interface Incoming {
  readonly request: Request;
  /** Parts of its path as the router decoded them. */
  readonly params: Readonly<Record<string, string>>;
  readonly bindings: Bindings | undefined;
}

export async function serve(
  route: Route,
  incoming: Incoming,
  context: ApiContext,
  measure: RequestMetrics,
): Promise<Response> {
  const started = performance.now();
  const requestId = newRequestId();
  const writes = new WatchedWrites();
  let answer: Answer;
  let counting: Counting = NOT_COUNTED;
  let merchantId: string | null = null;
  try {
    ({ answer, counting, merchantId } = await answerTo(
      route,
      incoming,
      context,
      requestId,
      writes,
    ));
  } catch (error) {
    answer = isSomethingAway(error) ? away(writes) : internalError;
    logEvent("http.request_failed", {
      requestId,
      method: route.method,
      path: route.path,
      error,
    });
  }
  if (route.problemPage !== null && answer.status >= 400 && typeof answer.body === "object") {
    answer = route.problemPage(answer, { headers: incoming.request.headers });
  }
  if (route.anyOrigin) answer = { ...answer, headers: { ...ANY_ORIGIN, ...answer.headers } };
  const writing = writeBody(answer.body);
  let body = writing instanceof Promise ? await writing : writing;
  const weighed = context.rateLimits.weigh(counting, sizeOf(body), context.clock());
  // an answer about a change is given whatever it weighs
  if (weighed.refusal !== null && route.method === "GET") {
    answer = weighed.refusal;
    body = writeSmall(answer.body);
  }
  measure(route, answer.status, performance.now() - started);
  if (isTracing()) traceRequest(route, { requestId, merchantId, answer, started });
  return toResponse(answer, body, requestId, context.transportHeaders, weighed.headers);
}

/** The answer where the database or a node was lost: "nothing was done" only where that is known. */
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
  incoming: Incoming,
  context: ApiContext,
  requestId: string,
  writes: WatchedWrites,
): Promise<
  { readonly answer: Answer; readonly counting: Counting; readonly merchantId: string | null }
> {
  const now = context.clock();
  const { params, bindings } = incoming;
  const { headers, url } = incoming.request;
  const asked = identify(route, incoming, context, requestId, now);
  const identity = asked instanceof Promise ? await asked : asked;
  const address = () => addressOf(headers, bindings?.remoteAddr, context);
  const counts = countRequest(route, { identity, params, url, address, now }, context);
  const { counting, counted } = counts instanceof Promise ? await counts : counts;
  const answer = counting.refusal ??
    (identity.kind === "refused"
      ? identity.answer
      : !isReadablePath(url, params)
      ? notFound
      : await withPlace(route, identity.caller, context, (place) =>
        withDatabase(
          route,
          { caller: identity.caller, merchantId: identity.merchantId, counting, now },
          context,
          writes,
          (fitted) => handle(route, incoming, fitted, requestId, { ...identity, now, place }),
        )));
  const merchantId = identity.kind === "refused" ? null : identity.merchantId;
  if (route.rateCategory !== "hosted" || counted === null || !isOfPage(answer)) {
    return { answer, counting, merchantId };
  }
  const found = context.rateLimits.foundPage(counting, counted, now);
  return { answer: found.refusal ?? answer, counting: found, merchantId };
}

/** Finds out who asks, and notes a key that is not accepted; at once where it is remembered. */
function identify(
  route: Route,
  { request: { headers }, params, bindings }: Incoming,
  context: ApiContext,
  requestId: string,
  now: number,
): Identity | Promise<Identity> {
  const note = (identity: Identity): Identity => {
    if (identity.kind === "refused" && identity.answer === unauthorized) {
      const address = addressOf(headers, bindings?.remoteAddr, context);
      const name = `${route.method} ${route.path}`;
      context.failedAuthentications.record(address, name, requestId, now);
    }
    return identity;
  };
  const asked = authenticate(route, params, headers, bindings?.remoteAddr, now, context);
  return asked instanceof Promise ? soon(asked).then(note) : note(asked);
}

/** The fields in which an answer to a change names its payment. */
const PAYMENT_FIELDS = ["id", "depositId", "withdrawalId", "settlementId", "transactionId"];
/** Ids of payments, as answers have them. */
const PAYMENT_ID = /^(dep|wd|stl)_/;

/** Traces a request; a change that answers with one payment is in the trace of that payment. */
function traceRequest(
  route: Route,
  { requestId, merchantId, answer, started }: {
    readonly requestId: string;
    readonly merchantId: string | null;
    readonly answer: Answer;
    readonly started: number;
  },
): void {
  const { body, status } = answer;
  const ids = route.method !== "GET" && typeof body === "object" && body !== null
    ? PAYMENT_FIELDS.map((name) => Reflect.get(body, name))
    : [];
  const payment = ids.find((id) => typeof id === "string" && PAYMENT_ID.test(id)) ?? null;
  traceSpan("http.request", {
    of: payment ?? requestId,
    from: Date.now() - (performance.now() - started),
    attributes: {
      request: requestId,
      method: route.method,
      route: route.path,
      status,
      merchant: merchantId,
      payment,
    },
  });
}

/** True where a hosted page was found, open or over. */
function isOfPage({ status }: Answer): boolean {
  return status < 400 || status === 410;
}

/** The time that a request waits for the look-up of its key, milliseconds. */
const KEY_MS = 5_000;

/** Bounds the wait for a key, for which there may be no free connection. Nothing was done yet. */
async function soon<T>(found: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(connectionFault("CONNECT_TIMEOUT", "no key was looked up in time")),
      KEY_MS,
    );
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Gives a handler the pool of its kind; a list waits for its turn, and not for long. */
function withDatabase(
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
  if (route.method !== "GET") return answer({ ...context, sql: writes.watch(pool) });
  if (pools === undefined) return answer(context);
  const account = merchantId ?? caller?.merchantId ?? null;
  if (!isList(route) || account === null) return answer({ ...context, sql: pool });
  return inListSlot(pools, account, (doneReading) => {
    const overdrawn = context.rateLimits.overdrawn(counting, now);
    return overdrawn ?? answer({ ...context, sql: pool, doneReading });
  });
}

/** Answers the request of a list once it is its account's turn to read one. */
async function inListSlot(
  { slots }: ApiPools,
  account: string,
  answer: (doneReading: () => void) => Answer | Promise<Answer>,
): Promise<Answer> {
  const release = await slots.take(account);
  if (release === null) return unavailable("Too many lists are read just now; nothing was done.");
  try {
    return await answer(release);
  } finally {
    release();
  }
}

/** Answers a request in a place of its account, where it needs one. */
async function withPlace(
  route: Route,
  caller: AnyRequest["caller"],
  { changePlaces }: Pick<ApiContext, "changePlaces">,
  answer: (place: Place | null) => Promise<Answer>,
): Promise<Answer> {
  const account = placeOf(route, caller);
  if (account === null) return await answer(null);
  const place = changePlaces.enter(account);
  if (place === null) {
    changePlaces.refuse();
    return CROWDED;
  }
  try {
    return await answer(place);
  } finally {
    changePlaces.leave(place);
  }
}

/** Reads what a known caller sent and lets the route's handler answer it. */
async function handle(
  route: Route,
  incoming: Incoming,
  context: ApiContext,
  requestId: string,
  { now, place, ...known }: KnownIdentity & {
    readonly now: number;
    readonly place: Place | null;
  },
): Promise<Answer> {
  const { request: sent, params, bindings } = incoming;
  const { headers } = sent;
  const reading = readInput(
    route,
    sent,
    (body) => route.verify?.({ body, headers, now }, context) ?? null,
  );
  const input = reading instanceof Promise ? await reading : reading;
  // not carried out: the client sees a broken connection, and its library may have asked again
  if (bindings?.bodyRead?.() === false) {
    return unavailable("The connection was ended; nothing was done.");
  }
  if (input.kind === "refused") return input.answer;
  if (place !== null && !context.changePlaces.keep(place)) {
    context.changePlaces.refuse();
    return CROWDED;
  }
  let identity: Identity = known;
  const identifyNow = () => identify(route, incoming, context, requestId, context.clock());
  if (reading instanceof Promise) {
    // a client may take its time for the body: a key that ended meanwhile makes no payout and no other key
    const asked = identifyNow();
    identity = asked instanceof Promise ? await asked : asked;
    if (identity.kind === "refused") return identity.answer;
  }
  const request: AnyRequest = {
    caller: identity.caller,
    merchantId: identity.merchantId,
    params,
    query: input.query,
    body: input.body,
    headers,
    now,
    requestId,
    refusalByNow: async () => {
      const found = await identifyNow();
      return found.kind === "refused" ? found.answer : null;
    },
  };
  return await route.handler(request, context);
}

/**
 * The account that a request takes a place for; null where it needs none: one that only reads, one without
 * a key, and an operator's, who is needed all the more while others flood.
 */
export function placeOf(route: Route, caller: AnyRequest["caller"]): string | null {
  return route.method === "GET" ? null : caller?.merchantId ?? null;
}

/**
 * The pool that a route's handler works with.
 *
 * @param isOperator whether an administrator asks
 */
export function poolOf(route: Route, pools: ApiPools, isOperator: boolean): Sql {
  const { scope } = route.access;
  if (scope === "admin" || (scope === "reseller" && isOperator)) return pools.operators;
  if (route.rateCategory === "hosted") return pools.pages;
  return isList(route) ? pools.reads : pools.requests;
}

/** True for a route that reads what grows with a merchant's history, or with all of a reseller's merchants. */
export function isList(route: Route): boolean {
  const { scope } = route.access;
  if (scope === "reseller") return route.method === "GET";
  return route.method === "GET" && route.rateCategory === "transactions" &&
    (scope === "own" || scope === "named" || scope === "acting");
}
