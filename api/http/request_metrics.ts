/**
 * Counts and durations of requests per route.
 *
 * @module
 */

import { Counter, Histogram, type Registry } from "prom-client";
import type { Route } from "./route.ts";

/** Notes one answered request. */
export type RequestMetrics = (route: Route, status: number, durationMs: number) => void;

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics; one child per route and status is looked up once and kept. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const answered = new Counter({
    name: "http_requests_total",
    help: "Requests by method, route and status.",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's arrival to its answer.",
    labelNames: ["method", "route"],
    buckets: BUCKETS_S,
    registers: [registry],
  });
  const counters = new Map<Route, Map<number, Counter.Internal>>();
  const histograms = new Map<Route, Histogram.Internal<string>>();
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
