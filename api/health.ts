/**
 * What operators' tools ask: is the process alive, can it serve, what does it measure.
 *
 * @module
 */

import { ok } from "./answer.ts";
import { publicRoute } from "./route.ts";

/** `GET /healthz`: the process answers. */
export const healthz = publicRoute({
  method: "GET",
  path: "/healthz",
  summary: "Whether the process answers",
  rateCategory: "none",
  responses: { 200: "It does" },
  handler: () => ok({ status: "ok" }),
});

/** `GET /readyz`: 503 only when this node cannot serve. */
export const readyz = publicRoute({
  method: "GET",
  path: "/readyz",
  summary: "Whether this node can serve",
  rateCategory: "none",
  responses: { 200: "It can; `degraded` names what is not as it should be", 503: "It cannot" },
  handler: async (_request, { readiness }) => {
    const found = await readiness();
    return { status: found.status === "unready" ? 503 : 200, body: found };
  },
});

/** `GET /metrics`, in the text format of Prometheus. */
export const metrics = publicRoute({
  method: "GET",
  path: "/metrics",
  summary: "Measurements",
  rateCategory: "none",
  responses: { 200: "Measurements in the text format of Prometheus" },
  handler: async (_request, { registry }) => ({
    status: 200,
    body: await registry.metrics(),
    headers: { "content-type": registry.contentType },
  }),
});
