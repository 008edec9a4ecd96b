/**
 * Sending a range of events once more: by the merchant for itself, by an administrator for it.
 *
 * @module
 */

import { z } from "zod";
import { readMerchant } from "../../ledger/merchants.ts";
import { redeliverEvents } from "../../ledger/outbox/deliveries.ts";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/event_type.ts";
import { hubAudit } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { refuseReversed, refuseUnknownFields } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { type ApiRequest, route } from "../http/route.ts";
/** The most events that one request puts back in line. */
const LIMIT = 10_000;

const redelivered = z.object({
  redelivered: eg(z.int().min(0).meta({ description: "Events that are due now" }), 120),
  isComplete: eg(z.boolean().meta({ description: "Whether the range holds no more" }), true),
  lastEventId: f.id("evt").nullable().meta({ description: "The last of them, for `after`" }),
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

const DESCRIPTION = `At most ${LIMIT.toLocaleString("en")} events, the oldest first, each with its \
own eventId and bytes. Where \`isComplete\` is false there are more: ask again with \`after\`. Ends a \
pause of the endpoint.`;

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
  const found = await redeliverEvents(
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
  );
  context.wakeWebhooks(merchantId);
  return ok({
    redelivered: found.count,
    isComplete: found.count < LIMIT,
    lastEventId: found.lastId,
  });
}
