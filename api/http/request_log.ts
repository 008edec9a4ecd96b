/**
 * The records of requests: their ids, counts and durations per route, and a sample of failed
 * authentications that names the client and never the key, so that it cannot fill the log.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { Counter, Histogram, type Registry } from "prom-client";
import { metricOf } from "./metric_table.ts";

/** The parts of a route by which requests are counted. */
interface Measured {
  readonly method: string;
  readonly path: string;
}

/** Counts one answered request. */
export type RequestMetrics = (route: Measured, status: number, durationMs: number) => void;

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics; one child per route and status is looked up once and kept. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const answered = new Counter({
    ...metricOf("engine_http_requests_total"),
    registers: [registry],
  });
  const duration = new Histogram({
    ...metricOf("engine_http_request_duration_seconds"),
    buckets: BUCKETS_S,
    registers: [registry],
  });
  const counters = new Map<Measured, Map<number, Counter.Internal>>();
  const histograms = new Map<Measured, Histogram.Internal<string>>();
  return (route, status, durationMs) => {
    let byStatus = counters.get(route);
    if (byStatus === undefined) counters.set(route, byStatus = new Map());
    let counter = byStatus.get(status);
    if (counter === undefined) {
      counter = answered.labels(route.method, route.path, String(status));
      byStatus.set(status, counter);
    }
    counter.inc();
    let histogram = histograms.get(route);
    if (histogram === undefined) {
      histogram = duration.labels(route.method, route.path);
      histograms.set(route, histogram);
    }
    histogram.observe(durationMs / 1_000);
  };
}

export function newRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll("-", "")}`;
}

const MINUTE_MS = 60_000;

/** Lines per minute at most, of all addresses. */
const MOST_LINES = 20;

/** Addresses that are remembered at most; the oldest is forgotten. */
const MOST_ADDRESSES = 1_000;

export interface FailedAuthentication {
  /** Null where the address is not known. */
  readonly address: string | null;
  /** Failures of this address since its line before. */
  readonly failures: number;
  /** Method and path's template of the request that is logged. */
  readonly route: string;
  readonly requestId: string;
}

interface Seen {
  since: number;
  failures: number;
}

/** Counts failures by address and logs the first of each minute, with how many there were before. */
export class FailedAuthentications {
  readonly #seen = new Map<string | null, Seen>();
  readonly #write: (line: FailedAuthentication) => void;
  #minute = 0;
  #lines = 0;

  constructor(write: (line: FailedAuthentication) => void = warn) {
    this.#write = write;
  }

  /**
   * Records one failure.
   *
   * @param now Unix milliseconds
   */
  record(address: string | null, route: string, requestId: string, now: number): void {
    const seen = this.#seen.get(address);
    // a clock that was set back begins a new minute
    const isNew = seen === undefined || Math.abs(now - seen.since) >= MINUTE_MS;
    if (!isNew) {
      seen.failures++;
      return;
    }
    const failures = (seen?.failures ?? 0) + 1;
    if (!this.#mayWrite(now)) {
      if (seen !== undefined) seen.failures++;
      else this.#remember(address, { since: now - MINUTE_MS, failures: 1 });
      return;
    }
    this.#remember(address, { since: now, failures: 0 });
    this.#write({ address, failures, route, requestId });
  }

  #mayWrite(now: number): boolean {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#lines = 0;
    }
    return ++this.#lines <= MOST_LINES;
  }

  #remember(address: string | null, seen: Seen): void {
    this.#seen.delete(address);
    this.#seen.set(address, seen);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MOST_ADDRESSES) break;
      this.#seen.delete(oldest);
    }
  }
}

function warn(line: FailedAuthentication): void {
  logEvent("http.authentication_failed", {
    ...line,
    address: line.address ?? "a client that no proxy names",
  });
}
