/**
 * How a merchant's endpoint is doing, and ending its pause.
 *
 * @module
 */

import {
  type EndpointStatus,
  readEndpointStatus,
  resumeEndpoint,
} from "../../ledger/outbox/endpoint_status.ts";
import { ok } from "../http/answer.ts";
import { hubAudit } from "../http/audit_stamp.ts";
import { notFound } from "../http/errors.ts";
import { keyedRoute } from "../http/route.ts";
import { WEBHOOK_ENDPOINT_EXAMPLE, webhookEndpoint } from "./webhook_endpoint_schema.ts";

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
    since: time(failing.since),
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
