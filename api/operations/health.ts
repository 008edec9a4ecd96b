/**
 * Health and measurements, for operators' tools.
 *
 * @module
 */

import { z } from "zod";
import { ok } from "../http/answer.ts";
import { eg } from "../http/example.ts";
import { route } from "../http/route.ts";
import { VERSION } from "../http/version.ts";

const ready = z.object({
  status: eg(z.enum(["ok", "degraded", "unready"]), "ok"),
  reasons: eg(z.array(z.string()), []),
}).meta({ id: "Readiness" });

const health = z.object({ status: z.literal("ok"), version: eg(z.string(), VERSION) });

export const healthz = route({
  at: "GET /healthz",
  summary: "Whether the process answers, and its version",
  access: { scope: "public" },
  rateCategory: "health",
  responses: { 200: { description: "It does", schema: health } },
  handler: () => ok({ status: "ok", version: VERSION }),
});

/** Seconds after which it is worth asking an unready node again: what it says is kept that long. */
const RETRY_AFTER = "1";

export const readyz = route({
  at: "GET /readyz",
  summary: "Whether this node can serve",
  access: { scope: "public" },
  rateCategory: "health",
  responses: {
    200: { description: "It can; `degraded` names what is not as it should be", schema: ready },
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

export const metrics = route({
  at: "GET /metrics",
  summary: "Measurements",
  access: { scope: "public" },
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
