/**
 * The state of a merchant's endpoint, and its return to service.
 *
 * @module
 */

import { z } from "zod";
import {
  COUNTED_AT_MOST,
  type EndpointStatus,
  readEndpointStatus,
  resumeEndpoint,
} from "../../ledger/outbox/endpoint_status.ts";
import { hubAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { notFound } from "../http/errors.ts";
import { EXAMPLE, exampleId, id, timestamp } from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";

/** The state of an endpoint. */
const webhookEndpoint = z.object({
  state: z.enum(["off", "active", "failing", "paused"]).meta({
    description: "`off`: no URL, or switched off. `failing`: nothing is acknowledged. " +
      "`paused`: for so long that new events wait for a probe to be acknowledged",
  }),
  since: timestamp.nullable().meta({ description: "When it began to fail" }),
  failures: z.int().min(0).meta({ description: "Attempts since then" }),
  lastOutcome: z.string().nullable().meta({ examples: ["timeout"] }),
  lastFailedAt: timestamp.nullable(),
  nextProbeAt: timestamp.nullable().meta({
    description: "While paused: from when on the oldest new event is sent as a probe",
  }),
  waiting: z.int().min(0).meta({
    description: `Events still to be delivered; counted up to ${COUNTED_AT_MOST}`,
  }),
  lastDeliveredAt: timestamp.nullable().meta({
    description: "When an event that is still kept was last acknowledged, a test event too",
  }),
}).meta({ id: "WebhookEndpoint" });

/** Answer to the redelivery of a range. */
export const webhookRedelivered = z.object({
  redelivered: z.int().min(0).meta({ description: "Events that are due now" }),
  isComplete: z.boolean().meta({ description: "Whether the range holds no more" }),
  lastEventId: id("evt").nullable().meta({ description: "The last of them, for `after`" }),
}).meta({ id: "WebhookRedelivered" });

const WEBHOOK_ENDPOINT_EXAMPLE = {
  state: "paused",
  since: EXAMPLE.time,
  failures: 412,
  lastOutcome: "timeout",
  lastFailedAt: EXAMPLE.later,
  nextProbeAt: EXAMPLE.later,
  waiting: 1_204,
  lastDeliveredAt: EXAMPLE.time,
};

export const WEBHOOK_REDELIVERED_EXAMPLE = {
  redelivered: 120,
  isComplete: true,
  lastEventId: exampleId("evt"),
};

const PAUSES =
  `An endpoint that has acknowledged nothing for five minutes is paused as soon as another delivery \
fails: what was begun keeps its retries, what is new waits. It is probed with its oldest new event \
every 30 seconds. Where nothing waits, an endpoint that has acknowledged nothing for five minutes is \
sent, after 30 seconds, then after twice that, and so on up to 10 minutes, in turn the events of the \
last 72 hours that ran out of retries; when it does not acknowledge these, that pauses nothing. The \
first acknowledgement, also of a test event, ends the pause, and so do another \
URL, a redelivery that was asked for, and \`POST .../webhook/resume\`. After an acknowledgement, also \
of a test event, and after \`resume\`, what ran out of retries in the last 72 hours is sent once more.`;

/** `GET /api/merchants/{merchantId}/webhook/status`. */
export const getWebhookStatus = keyedRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}/webhook/status",
  summary: "Whether the webhook's endpoint acknowledges, and what waits for it",
  description: PAUSES,
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "What is known of the endpoint",
      schema: webhookEndpoint,
      example: WEBHOOK_ENDPOINT_EXAMPLE,
    },
  },
  errors: ["record_not_found"],
  handler: async ({ merchantId }, { sql }) => {
    const status = await readEndpointStatus(sql, merchantId);
    return status === null ? notFound : ok(statusView(status));
  },
});

/** `POST /api/merchants/{merchantId}/webhook/resume`. */
export const resumeWebhook = keyedRoute({
  method: "POST",
  path: "/api/merchants/{merchantId}/webhook/resume",
  summary: "End the pause of the webhook's endpoint: what waits is sent now",
  description: PAUSES,
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "What is known of the endpoint; nothing bad any more",
      schema: webhookEndpoint,
      example: { ...WEBHOOK_ENDPOINT_EXAMPLE, ...nothingBad() },
    },
  },
  errors: ["record_not_found"],
  handler: async (request, context) => {
    const { merchantId } = request;
    const { sql, wakeWebhooks } = context;
    const before = await readEndpointStatus(sql, merchantId);
    if (before === null) return notFound;
    const { state, since } = statusView(before);
    const image = { state, since };
    const audit = hubAudit(request, "webhook.resume", merchantId, context, image, null);
    await resumeEndpoint(sql, merchantId, audit);
    wakeWebhooks(merchantId);
    const after = await readEndpointStatus(sql, merchantId);
    return after === null ? notFound : ok(statusView(after));
  },
});

function nothingBad() {
  return {
    state: "active",
    since: null,
    failures: 0,
    lastOutcome: null,
    lastFailedAt: null,
    nextProbeAt: null,
  };
}

function statusView({ isOn, failing, waiting, lastDeliveredAt }: EndpointStatus) {
  const time = (at: number | null) => at === null ? null : new Date(at).toISOString();
  const known = failing === null ? nothingBad() : {
    state: failing.pausedAt === null ? "failing" : "paused",
    since: time(failing.failingSince),
    failures: failing.failures,
    lastOutcome: failing.lastOutcome,
    lastFailedAt: time(failing.lastFailedAt),
    nextProbeAt: time(failing.nextProbeAt),
  };
  return {
    ...known,
    ...(isOn ? {} : { state: "off" }),
    waiting,
    lastDeliveredAt: time(lastDeliveredAt),
  };
}
