/**
 * Health and measurements, for operators' tools.
 *
 * @module
 */

import { z } from "zod";
import { ok } from "../http/answer.ts";
import { publicRoute } from "../http/route.ts";

/** Answer of `/healthz`. */
const alive = z.object({ status: z.literal("ok") });

/** Answer of `/readyz`. */
const ready = z.object({
  status: z.enum(["ok", "degraded", "unready"]),
  reasons: z.array(z.string()),
}).meta({ id: "Readiness" });

/** `GET /healthz`: the process answers. */
export const healthz = publicRoute({
  method: "GET",
  path: "/healthz",
  summary: "Whether the process answers",
  rateCategory: "health",
  responses: { 200: { description: "It does", schema: alive, example: { status: "ok" } } },
  handler: () => ok({ status: "ok" }),
});

/** Seconds after which it is worth asking an unready node again: what it tells is kept that long. */
const RETRY_AFTER = "1";

/** `GET /readyz`: 503 only when this node cannot serve. */
export const readyz = publicRoute({
  method: "GET",
  path: "/readyz",
  summary: "Whether this node can serve",
  rateCategory: "health",
  responses: {
    200: {
      description: "It can; `degraded` names what is not as it should be",
      schema: ready,
      example: { status: "ok", reasons: [] },
    },
    503: {
      description: "It cannot",
      schema: ready,
      example: { status: "unready", reasons: ["the database does not answer"] },
    },
  },
  handler: async (_request, { readiness }) => {
    const found = await readiness();
    if (found.status !== "unready") return ok(found);
    return { status: 503, body: found, headers: { "retry-after": RETRY_AFTER } };
  },
});

/** `GET /metrics`, in the text format of Prometheus. */
export const metrics = publicRoute({
  method: "GET",
  path: "/metrics",
  summary: "Measurements",
  rateCategory: "health",
  responses: {
    200: {
      description: "Measurements in the text format of Prometheus",
      schema: null,
      contentType: "text/plain",
    },
  },
  handler: async (_request, { registry, measurements }) => ({
    status: 200,
    body: await measurements(),
    headers: { "content-type": registry.contentType },
  }),
});
