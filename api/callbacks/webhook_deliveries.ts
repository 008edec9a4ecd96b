/**
 * Events, and how their deliveries went.
 *
 * @module
 */

import { z } from "zod";
import { readMerchant } from "../../ledger/merchants.ts";
import {
  EVENT_STATUSES,
  listDeliveries,
  type ListedDelivery,
  redeliverEvent,
} from "../../ledger/outbox/deliveries.ts";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/event_type.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, listed, pageOf, pages } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { EVENT_PAYLOADS } from "./event_payloads.ts";

/** HTTP status of an endpoint's answer. */
export const httpStatus = eg(
  z.int().nullable().meta({ description: "HTTP status of the endpoint's answer" }),
  200,
);

/** The beginning of an endpoint's answer. */
export const endpointAnswer = eg(
  z.string().nullable().meta({ description: "Its first 2 kB" }),
  '{"ok":true}',
);

const event = z.enum([...EVENT_TYPES, TEST_EVENT]);

const webhookDelivery = z.object({
  id: f.id("evt"),
  event: eg(event, "withdrawal.confirmed"),
  status: eg(z.enum(["PENDING", "DELIVERED", "FAILED", "SKIPPED"]), "DELIVERED"),
  paymentId: eg(z.string(), f.exampleId("wd")),
  attempts: z.array(z.object({
    number: eg(z.int().min(1), 1),
    outcome: eg(z.string().meta({ examples: ["acknowledged", "timeout"] }), "acknowledged"),
    status: httpStatus,
    durationMs: eg(z.number().min(0), 84),
    answer: endpointAnswer,
    endedAt: f.later,
  })),
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
  summary: "Events with every attempt to deliver them, newest first",
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
  handler: async ({ merchantId, params }, { sql, wakeWebhooks }) => {
    const merchant = await readMerchant(sql, merchantId);
    if (merchant?.webhookUrl === null) {
      return validationFailed("webhookUrl", "There is no URL to deliver to", "required");
    }
    if (merchant?.webhookEnabled !== true) {
      return validationFailed("webhookEnabled", "The webhook is switched off", "switched_off");
    }
    const { eventId } = params;
    if (!await redeliverEvent(sql, merchantId, eventId)) return notFound;
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
    nextAttemptAt: row.status === "PENDING" ? row.nextAttemptAt : null,
    payload: JSON.parse(row.payload),
  });
}
