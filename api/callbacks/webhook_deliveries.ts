/**
 * The log of what was delivered to a merchant's webhook, and sending it again.
 *
 * @module
 */

import { z } from "zod";
import { redeliverEvent } from "../../ledger/outbox/redeliver_event.ts";
import {
  EVENT_STATUSES,
  listDeliveries,
  type ListedAttempt,
  type ListedDelivery,
} from "../../ledger/outbox/list_deliveries.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/event_type.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { endDate, limit, page, startDate } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { keyedRoute } from "../http/route.ts";
import {
  WEBHOOK_DELIVERY_EXAMPLE,
  WEBHOOK_DELIVERY_PAGE_EXAMPLE,
  webhookDelivery,
  webhookDeliveryPage,
} from "./webhook_delivery_schema.ts";

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
