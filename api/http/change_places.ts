/**
 * Places for requests that change something: so many are under way at a time. One that finds no place
 * is refused before anything is looked at but its method and its key, so that little of a flood's cost
 * is taken from those that are let in.
 *
 * @module
 */

import { Counter, Gauge, type Registry } from "prom-client";
import { toResponse, writeSmall } from "./answer.ts";
import { unavailable } from "./errors.ts";
import { newRequestId } from "./request_log.ts";
import type { Bindings } from "./serve.ts";

/**
 * Changes under way at most, of all merchants, from the end of their heads to their answers: half of
 * them in the journal's batch under way, half for the next one. Larger batches gain nothing.
 */
export const CHANGE_PLACES = 512;

/** Places for requests that change something, by the key they are sent with. */
export class ChangePlaces {
  readonly #held = new Map<string, number>();
  readonly #capacity: number;
  #used = 0;

  constructor(capacity: number = CHANGE_PLACES) {
    this.#capacity = capacity;
  }

  /** Places that are taken. */
  get used(): number {
    return this.#used;
  }

  /**
   * Takes a place; false where there is none. A key may hold as many as are left free: one that floods
   * gets half of them, two get a third each, and there is a place for all others at any time.
   */
  take(key: string): boolean {
    const own = this.#held.get(key) ?? 0;
    if (own >= this.#capacity - this.#used) return false;
    this.#held.set(key, own + 1);
    this.#used++;
    return true;
  }

  /** Gives a place back. */
  leave(key: string): void {
    const left = (this.#held.get(key) ?? 1) - 1;
    if (left === 0) this.#held.delete(key);
    else this.#held.set(key, left);
    this.#used--;
  }
}

/** The answer to a change that finds no place. */
const CROWDED = unavailable("Too many requests are under way; nothing was done.");
const CROWDED_BODY = writeSmall(CROWDED.body);

/** Part of the paths that operators need all the more while others flood. */
const OPERATORS = "/api/admin/";

/** Answers a request. */
type Fetch = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

/**
 * Lets in what finds a place, of requests that change something with a key, and all others.
 *
 * @param registry is given the figures
 * @param headers of every answer
 */
export function admitChanges(
  fetch: Fetch,
  registry: Registry,
  headers: Readonly<Record<string, string>>,
): Fetch {
  const places = new ChangePlaces();
  const answer = { ...CROWDED, headers: { ...headers, ...CROWDED.headers } };
  const refused = new Counter({
    name: "http_changes_refused_total",
    help: "Changes that were answered 503 unread, as too many requests were under way.",
    registers: [registry],
  });
  new Gauge({
    name: "http_changes_under_way",
    help: "Requests that change something, between head and answer.",
    registers: [registry],
    collect() {
      this.set(places.used);
    },
  });
  const admitted = async (key: string, request: Request, bindings: Bindings | undefined) => {
    try {
      return await fetch(request, bindings);
    } finally {
      places.leave(key);
    }
  };
  return (request, bindings) => {
    const { method } = request;
    if (method === "GET" || method === "HEAD") return fetch(request, bindings);
    const key = request.headers.get("authorization");
    if (key === null) return fetch(request, bindings);
    if (places.take(key)) return admitted(key, request, bindings);
    if (request.url.includes(OPERATORS)) return fetch(request, bindings);
    refused.inc();
    return toResponse(answer, CROWDED_BODY, newRequestId());
  };
}
