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
  type ListedAttempt,
  type ListedDelivery,
  redeliverEvent,
} from "../../ledger/outbox/deliveries.ts";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/event_type.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { endDate, limit, page, startDate } from "../http/fields.ts";
import {
  EXAMPLE,
  exampleId,
  id,
  onePage,
  pagination,
  paginationSchema,
  timestamp,
} from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";
import { EVENT_EXAMPLES } from "./event_payloads_schema.ts";

const httpStatus = z.int().nullable().meta({ description: "HTTP status of the endpoint's answer" });
const answer = z.string().nullable().meta({ description: "Its first 2 kB" });

/** One event with its attempts. */
const webhookDelivery = z.object({
  id: id("evt"),
  event: z.enum([...EVENT_TYPES, TEST_EVENT]),
  status: z.enum(["PENDING", "DELIVERED", "FAILED", "SKIPPED"]),
  paymentId: z.string(),
  attempts: z.array(z.object({
    number: z.int().min(1),
    outcome: z.string().meta({ examples: ["acknowledged", "timeout"] }),
    status: httpStatus,
    durationMs: z.number().min(0),
    answer,
    endedAt: timestamp,
  })),
  nextAttemptAt: timestamp.nullable(),
  createdAt: timestamp,
  deliveredAt: timestamp.nullable(),
  payload: z.record(z.string(), z.unknown()).meta({ description: "The body that is sent" }),
}).meta({ id: "WebhookDelivery" });

/** Answer of the delivery log. */
const webhookDeliveryPage = z.object({
  deliveries: z.array(webhookDelivery),
  pagination: paginationSchema,
});

/** Answer to a test delivery. */
export const webhookTested = z.object({
  success: z.boolean().meta({ description: "Whether the endpoint acknowledged it" }),
  eventId: id("evt"),
  event: z.literal(TEST_EVENT),
  status: httpStatus,
  outcome: z.string(),
  durationMs: z.number().min(0),
  answer,
}).meta({ id: "WebhookTested" });

/** Answer to a new secret. */
export const webhookSecretRotated = z.object({
  webhookSecret: z.string().meta({ description: "Shown now and never again" }),
  previousValidUntil: timestamp.nullable(),
});

const WEBHOOK_DELIVERY_EXAMPLE = {
  id: exampleId("evt"),
  event: "withdrawal.confirmed",
  status: "DELIVERED",
  paymentId: exampleId("wd"),
  attempts: [{
    number: 1,
    outcome: "acknowledged",
    status: 200,
    durationMs: 84,
    answer: '{"ok":true}',
    endedAt: EXAMPLE.later,
  }],
  nextAttemptAt: null,
  createdAt: EXAMPLE.time,
  deliveredAt: EXAMPLE.later,
  payload: EVENT_EXAMPLES["withdrawal.confirmed"],
};

const WEBHOOK_DELIVERY_PAGE_EXAMPLE = {
  deliveries: [WEBHOOK_DELIVERY_EXAMPLE],
  pagination: onePage(20),
};

export const WEBHOOK_TESTED_EXAMPLE = {
  success: true,
  eventId: exampleId("evt"),
  event: TEST_EVENT,
  status: 200,
  outcome: "acknowledged",
  durationMs: 84,
  answer: '{"ok":true}',
};

export const WEBHOOK_SECRET_ROTATED_EXAMPLE = {
  webhookSecret: "whsec_...",
  previousValidUntil: "2026-08-14T09:30:00.000Z",
};

/** `GET /api/webhook-deliveries`. */
export const getWebhookDeliveries = keyedRoute({
  method: "GET",
  path: "/api/webhook-deliveries",
  summary: "Events with every attempt to deliver them, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    status: z.enum(EVENT_STATUSES).optional(),
    event: z.enum([...EVENT_TYPES, TEST_EVENT]).optional(),
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: {
    200: {
      description: "One page of the delivery log",
      schema: webhookDeliveryPage,
      example: WEBHOOK_DELIVERY_PAGE_EXAMPLE,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ merchantId, query }, { sql }) => {
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const found = await listDeliveries(sql, merchantId, {
      status: query.status,
      type: query.event,
      from: query.startDate,
      until: query.endDate,
    }, query);
    return ok({
      deliveries: found.rows.map(deliveryView),
      pagination: pagination(query, found.total),
    });
  },
});

/** `POST /api/webhook-deliveries/{eventId}/redeliver`. */
export const redeliverWebhook = keyedRoute({
  method: "POST",
  path: "/api/webhook-deliveries/{eventId}/redeliver",
  summary: "Send an event once more, with the same eventId and bytes",
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "The event is due now",
      schema: webhookDelivery,
      example: WEBHOOK_DELIVERY_EXAMPLE,
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ merchantId, params }, { sql, wakeWebhooks }) => {
    const merchant = await readMerchant(sql, merchantId);
    if (merchant?.webhookUrl === null) {
      return validationFailed("webhookUrl", "There is no URL to deliver to", "required");
    }
    if (merchant?.webhookEnabled !== true) {
      return validationFailed("webhookEnabled", "The webhook is switched off", "switched_off");
    }
    const eventId = params.eventId ?? "";
    if (!await redeliverEvent(sql, merchantId, eventId)) return notFound;
    wakeWebhooks(merchantId);
    const found = await listDeliveries(sql, merchantId, { id: eventId }, { page: 1, limit: 1 });
    return ok(found.rows.map(deliveryView)[0] ?? {});
  },
});

function deliveryView(row: ListedDelivery) {
  return {
    id: row.id,
    event: row.type,
    status: row.status,
    paymentId: row.paymentId,
    attempts: row.tries.map(attemptView),
    nextAttemptAt: row.status === "PENDING" ? new Date(row.nextAttemptAt).toISOString() : null,
    createdAt: new Date(row.createdAt).toISOString(),
    deliveredAt: row.deliveredAt === null ? null : new Date(row.deliveredAt).toISOString(),
    payload: JSON.parse(row.payload),
  };
}

function attemptView(attempt: ListedAttempt) {
  return {
    number: attempt.number,
    outcome: attempt.outcome,
    status: attempt.httpStatus,
    durationMs: attempt.durationMs,
    answer: attempt.answer,
    endedAt: new Date(attempt.endedAt).toISOString(),
  };
}
