/**
 * The state of a merchant's endpoint, and its return to service.
 *
 * @module
 */

import { z } from "zod";
import {
  COUNTED_AT_MOST,
  type EndpointStatus,
  listFailingEndpoints,
  readEndpointStatus,
  resumeEndpoint,
} from "../../ledger/outbox/endpoint_status.ts";
import { hubAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { notFound } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { inOutboxPlace, OUTBOX_TAKEN } from "./outbox_place.ts";

const webhookEndpoint = z.object({
  state: eg(
    z.enum(["off", "active", "failing", "paused"]).meta({
      description: "`off`: no URL, or switched off. `failing`: nothing is acknowledged. " +
        "`paused`: for so long that new events wait for a probe to be acknowledged",
    }),
    "paused",
  ),
  since: f.timestamp.nullable().meta({ description: "When it began to fail" }),
  failures: eg(z.int().min(0).meta({ description: "Attempts since then" }), 412),
  lastOutcome: eg(z.string().nullable().meta({ examples: ["timeout"] }), "timeout"),
  lastFailedAt: f.later.nullable(),
  nextProbeAt: f.later.nullable().meta({
    description: "While paused: from when on the oldest new event is sent as a probe",
  }),
  waiting: eg(
    z.int().min(0).meta({
      description: `Events still to be delivered; counted up to ${COUNTED_AT_MOST}`,
    }),
    1_204,
  ),
  lastDeliveredAt: f.timestamp.nullable().meta({
    description: "When an event that is still kept was last acknowledged, a test event too",
  }),
}).meta({ id: "WebhookEndpoint" });

const NOTHING_BAD = {
  state: "active",
  since: null,
  failures: 0,
  lastOutcome: null,
  lastFailedAt: null,
  nextProbeAt: null,
} as const;

const PAUSES =
  `An endpoint that has acknowledged nothing for five minutes is paused as soon as another delivery \
fails: what was begun keeps its retries, what is new waits. It is probed with its oldest new event \
every 30 seconds. Where nothing waits, an endpoint that acknowledges nothing is sent, after 30 seconds, \
then after twice that, and so on up to 10 minutes, and at once after its URL was changed, in turn the \
events of the last 72 hours that ran out of retries; when it does not acknowledge these, that pauses nothing. The \
first acknowledgement, also of a test event, ends the pause, and so do another \
URL, a redelivery that was asked for, and \`POST .../webhook/resume\`. After an acknowledgement, also \
of a test event, and after \`resume\`, what ran out of retries in the last 72 hours is sent once more.`;

export const getWebhookStatus = route({
  at: "GET /api/merchants/{merchantId}/webhook/status",
  summary: "Whether the webhook's endpoint acknowledges, and what waits for it",
  description: PAUSES,
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  responses: { 200: { description: "State of the endpoint", schema: webhookEndpoint } },
  errors: ["record_not_found"],
  handler: async ({ merchantId }, { sql }) => {
    const status = await readEndpointStatus(sql, merchantId);
    return status === null ? notFound : ok(statusView(status));
  },
});

export const resumeWebhook = route({
  at: "POST /api/merchants/{merchantId}/webhook/resume",
  summary: "End the pause of the webhook's endpoint: what waits is sent now",
  description: PAUSES,
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "State of the endpoint; nothing bad any more",
      schema: webhookEndpoint,
      example: { ...exampleOf(webhookEndpoint), ...NOTHING_BAD },
    },
  },
  errors: ["record_not_found"],
  handler: async (request, context) => {
    const { merchantId } = request;
    const { sql, wakeWebhooks } = context;
    // what is read as well: of many that count what waits others' keys would wait for a connection
    const answer = await inOutboxPlace(context, merchantId, "resume", async () => {
      const before = await readEndpointStatus(sql, merchantId);
      if (before === null) return notFound;
      const { state, since } = statusView(before);
      const image = { state, since };
      const audit = hubAudit(request, "webhook.resume", merchantId, context, image, null);
      await resumeEndpoint(sql, merchantId, audit);
      wakeWebhooks(merchantId);
      const after = await readEndpointStatus(sql, merchantId);
      return after === null ? notFound : ok(statusView(after));
    });
    return answer ?? OUTBOX_TAKEN;
  },
});

/** The longest list of failing endpoints. */
const FAILING_SHOWN = 100;

const failingEndpoint = z.object({
  merchantId: f.id("mer"),
  state: eg(z.enum(["failing", "paused"]), "paused"),
  url: eg(z.string(), "https://shop.example/callbacks"),
  since: f.timestamp.meta({ description: "When it began to fail" }),
  failures: eg(z.int().min(1).meta({ description: "Attempts since then" }), 412),
  lastOutcome: eg(z.string(), "timeout"),
}).meta({ id: "FailingEndpoint" });

export const getFailingEndpoints = adminRoute({
  at: "GET /api/admin/webhook-endpoints",
  summary: "The merchants whose endpoint acknowledges nothing, those that fail longest first",
  anyOf: READERS,
  responses: {
    200: {
      description: `${FAILING_SHOWN} at most`,
      schema: z.object({ endpoints: z.array(failingEndpoint) }),
    },
  },
  handler: async (_request, { sql }) => {
    const rows = await listFailingEndpoints(sql, FAILING_SHOWN);
    return ok({
      endpoints: rows.map((row) =>
        shown(failingEndpoint, {
          ...row,
          state: row.pausedAt === null ? "failing" : "paused",
          since: row.failingSince,
        })
      ),
    });
  },
});

function statusView({ isOn, failing, waiting, lastDeliveredAt }: EndpointStatus) {
  const known = failing === null ? NOTHING_BAD : {
    ...failing,
    state: failing.pausedAt === null ? "failing" : "paused",
    since: failing.failingSince,
  };
  const state = isOn ? known.state : "off";
  return shown(webhookEndpoint, { ...known, state, waiting, lastDeliveredAt });
}
