/**
 * Events, how their deliveries went, and sending them once more.
 *
 * @module
 */
import { z } from "zod";
import { readMerchant } from "../../ledger/merchants.ts";
import {
  ATTEMPTS_READ,
  EVENT_STATUSES,
  listDeliveries,
  type ListedDelivery,
  redeliverEvent,
  redeliverEvents,
} from "../../ledger/outbox/deliveries.ts";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/events.ts";
import { hubAudit } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { refuseReversed, refuseUnknownFields } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, listed, pageOf, pages } from "../http/list.ts";
import { type ApiRequest, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { EVENT_PAYLOADS } from "./event_payloads.ts";
import { inOutboxPlace, OUTBOX_TAKEN } from "./outbox_place.ts";

export const httpStatus = eg(
  z.int().nullable().meta({ description: "HTTP status of the endpoint's answer" }),
  200,
);

export const endpointAnswer = eg(
  z.string().nullable().meta({ description: "Its first 2 kB" }),
  '{"ok":true}',
);

const event = z.enum([...EVENT_TYPES, TEST_EVENT]);

const webhookDelivery = z.object({
  id: f.id("evt"),
  event: eg(event, "withdrawal.confirmed"),
  status: eg(z.enum(["PENDING", "DELIVERED", "FAILED", "SKIPPED"]), "DELIVERED"),
  reason: eg(
    z.string().nullable().meta({
      description:
        "Of a SKIPPED event that was never wanted to be sent: `under_1_usd`, the deposit " +
        "is worth less than 1 USD; `switched_off`, callbacks were off when its turn came",
    }),
    null,
  ),
  paymentId: eg(z.string(), f.exampleId("wd")),
  attempts: z.array(z.object({
    number: eg(z.int().min(1), 1),
    outcome: eg(z.string().meta({ examples: ["acknowledged", "timeout"] }), "acknowledged"),
    status: httpStatus,
    durationMs: eg(z.number().min(0), 84),
    answer: endpointAnswer,
    endedAt: f.later,
  })).meta({ description: `The newest ${ATTEMPTS_READ}` }),
  nextAttemptAt: eg(f.timestamp.nullable(), null),
  createdAt: f.timestamp,
  deliveredAt: f.later.nullable(),
  payload: eg(
    z.record(z.string(), z.unknown()).meta({ description: "The body that is sent" }),
    exampleOf(EVENT_PAYLOADS["withdrawal.confirmed"]),
  ),
}).meta({ id: "WebhookDelivery" });

export const getWebhookDeliveries = route({
  at: "GET /api/webhook-deliveries",
  summary: "Events with the attempts to deliver them, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    ...pages(),
    status: z.enum(EVENT_STATUSES).optional(),
    event: event.optional(),
    ...dates,
  }),
  responses: {
    200: {
      description: "One page of the delivery log",
      schema: pageOf("deliveries", webhookDelivery),
    },
  },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const { status, event: type, startDate: from, endDate: until } = query;
    const found = await listDeliveries(sql, merchantId, { status, type, from, until }, query);
    return listed("deliveries", found, query, deliveryView);
  },
});

export const redeliverWebhook = route({
  at: "POST /api/webhook-deliveries/{eventId}/redeliver",
  summary: "Send an event once more, with the same eventId and bytes",
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "transactions",
  responses: { 200: { description: "The event is due now", schema: webhookDelivery } },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ merchantId, params }, context) => {
    const { sql, wakeWebhooks } = context;
    const merchant = await readMerchant(sql, merchantId);
    if (merchant?.webhookUrl === null) {
      return validationFailed("webhookUrl", "There is no URL to deliver to", "required");
    }
    if (merchant?.webhookEnabled !== true) {
      return validationFailed("webhookEnabled", "The webhook is switched off", "switched_off");
    }
    const { eventId } = params;
    const isThere = await inOutboxPlace(
      context,
      merchantId,
      "redelivery",
      () => redeliverEvent(sql, merchantId, eventId),
    );
    if (isThere === null) return OUTBOX_TAKEN;
    if (!isThere) return notFound;
    wakeWebhooks(merchantId);
    const found = await listDeliveries(sql, merchantId, { id: eventId }, { page: 1, limit: 1 });
    return ok(found.rows.map(deliveryView)[0] ?? {});
  },
});

function deliveryView(row: ListedDelivery) {
  return shown(webhookDelivery, {
    ...row,
    event: row.type,
    attempts: row.tries.map((attempt) => ({ ...attempt, status: attempt.httpStatus })),
    reason: row.status === "SKIPPED" ? row.lastOutcome : null,
    nextAttemptAt: row.status === "PENDING" ? row.nextAttemptAt : null,
    payload: JSON.parse(row.payload),
  });
}

/** The most events that one request looks at. */
const LIMIT = 1_000;

const redelivered = z.object({
  redelivered: eg(z.int().min(0).meta({ description: "Events that are due now" }), 120),
  isComplete: eg(z.boolean().meta({ description: "Whether the range holds no more" }), true),
  lastEventId: f.id("evt").nullable().meta({
    description:
      "For `after`: the last event that was looked at, or the last of them where it is complete",
  }),
}).meta({ id: "WebhookRedelivered" });

const range = z.looseObject({
  status: z.enum(["FAILED", "SKIPPED", "DELIVERED"]).default("FAILED"),
  event: z.enum([...EVENT_TYPES, TEST_EVENT]).optional(),
  startDate: f.startDate,
  endDate: f.endDate,
  after: z.string().max(64).optional().meta({
    description: "Only events after this one; `lastEventId` of the answer before",
  }),
});

const DESCRIPTION = `Looks at ${
  LIMIT.toLocaleString("en")
} events at most, the oldest first, and sends \
those of them that are wanted, each with its own eventId and bytes. Where \`isComplete\` is false there may \
be more: ask again with \`after\`, also where none was among them. Ends a pause of the endpoint.`;

const responses = { 200: { description: "The events are due now", schema: redelivered } };

export const redeliverWebhooks = route({
  at: "POST /api/webhook-deliveries/redeliver",
  summary: "Send the events of a range once more",
  description: DESCRIPTION,
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "transactions",
  body: range,
  responses,
  errors: ["validation_failed"],
  handler: (request, context) => redeliver(request, context),
});

export const redeliverMerchantWebhooks = route({
  at: "POST /api/merchants/{merchantId}/webhook/redeliver",
  summary: "Send the events of a range once more, for a merchant",
  description: DESCRIPTION,
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  body: range,
  responses,
  errors: ["record_not_found", "validation_failed"],
  handler: (request, context) => redeliver(request, context),
});

async function redeliver(
  request: ApiRequest<unknown, z.output<typeof range>>,
  context: ApiContext,
): Promise<Answer> {
  const { merchantId, caller, body } = request;
  const unknown = refuseUnknownFields(caller, body, range.shape);
  if (unknown !== null) return unknown;
  const reversed = refuseReversed(body);
  if (reversed !== null) return reversed;
  const merchant = await readMerchant(context.sql, merchantId);
  if (merchant === null) return notFound;
  if (merchant.webhookUrl === null) {
    return validationFailed("webhookUrl", "There is no URL to deliver to", "required");
  }
  if (!merchant.webhookEnabled) {
    return validationFailed("webhookEnabled", "The webhook is switched off", "switched_off");
  }
  const { status, event, startDate: from, endDate: until, after } = body;
  const found = await inOutboxPlace(context, merchantId, "redelivery", () =>
    redeliverEvents(
      context.sql,
      merchantId,
      { status, type: event, from, until, after },
      LIMIT,
      ({ count }) =>
        caller.role === "ADMIN"
          ? hubAudit(request, "webhook.redeliver", merchantId, context, null, {
            status,
            event: event ?? null,
            startDate: new Date(from).toISOString(),
            endDate: new Date(until).toISOString(),
            count,
          })
          : null,
    ));
  if (found === null) return OUTBOX_TAKEN;
  context.wakeWebhooks(merchantId);
  return ok({
    redelivered: found.count,
    isComplete: found.isComplete,
    lastEventId: found.lastId,
  });
}
