/**
 * Trying a merchant's webhook, and changing its secret.
 *
 * @module
 */

import { z } from "zod";
import { readMerchant } from "../../ledger/merchants.ts";
import { recordTestEvent } from "../../ledger/outbox/endpoint_status.ts";
import type { AttemptOutcome } from "../../webhooks/attempt_outcome.ts";
import { TEST_EVENT, webhookTestPayload } from "../../webhooks/events.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { openIfReadable } from "../../webhooks/secret_box.ts";
import { auditStamp, hubAudit } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { refuseUnknownFields, refuseUnknownMerchant } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { conflict, notDone, notFound, unavailable, validationFailed } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { type ApiRequest, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { inOutboxPlace } from "./outbox_place.ts";
import { endpointAnswer, httpStatus } from "./webhook_deliveries.ts";

const webhookTested = z.object({
  success: eg(z.boolean().meta({ description: "Whether the endpoint acknowledged it" }), true),
  eventId: f.id("evt"),
  event: z.literal(TEST_EVENT),
  status: httpStatus,
  outcome: eg(z.string(), "acknowledged"),
  durationMs: eg(z.number().min(0), 84),
  answer: endpointAnswer,
}).meta({ id: "WebhookTested" });

const secretRotated = z.object({
  webhookSecret: eg(z.string().meta({ description: "Shown now and never again" }), "whsec_..."),
  previousValidUntil: eg(f.timestamp.nullable(), "2026-08-14T09:30:00.000Z"),
});

export const testWebhook = route({
  at: "POST /api/merchants/{merchantId}/webhook/test",
  summary:
    "Send one signed test event to the webhook now; refused while callbacks are switched off",
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  responses: {
    200: {
      description: "Outcome of the delivery; success tells whether it was acknowledged",
      schema: webhookTested,
    },
  },
  errors: ["record_not_found", "conflict", "validation_failed"],
  handler: async (request, context) => {
    const { merchantId } = request;
    const { webhookTests } = context;
    if (webhookTests.has(merchantId)) return conflict("A test of this webhook is under way.");
    webhookTests.add(merchantId);
    try {
      return await sendTest(request, context);
    } finally {
      webhookTests.delete(merchantId);
    }
  },
});

/** The answer where a merchant's outbox is not free in time for what an acknowledgement has queued. */
const PAUSE_LEFT = unavailable(
  "The endpoint has acknowledged the test event, and the log has it. Too many events are being sent once more just now, so that a pause " +
    "is not ended by it.",
);

async function sendTest(
  request: ApiRequest<unknown, unknown>,
  context: ApiContext,
): Promise<Answer> {
  const { caller, merchantId, now } = request;
  const { sql, webhookSender, wakeWebhooks, newId, callbackSecrets } = context;
  const merchant = await readMerchant(sql, merchantId);
  if (merchant === null) return notFound;
  const { webhookUrl, webhookPreviousUntil } = merchant;
  if (webhookUrl === null) {
    return validationFailed("webhookUrl", "There is no URL to deliver to", "required");
  }
  if (!merchant.webhookEnabled) {
    return validationFailed("webhookEnabled", "Callbacks are switched off", "switched_off");
  }
  const overlaps = webhookPreviousUntil !== null && webhookPreviousUntil > now;
  const read = (kept: string) => openIfReadable(callbackSecrets.open, kept, merchantId);
  const current = await read(merchant.webhookSecret);
  if (current === null) return conflict("The webhook's secret cannot be read; make a new one.");
  const { webhookSecretPrevious: kept } = merchant;
  const previous = overlaps && kept !== null ? await read(kept) : null;
  const eventId = newId("evt");
  const payload = webhookTestPayload(eventId, now);
  const outcome = await webhookSender.send(
    {
      merchantId,
      eventId,
      type: TEST_EVENT,
      body: payload,
      url: webhookUrl,
      secrets: { current, previous },
      timeoutMs: merchant.webhookTimeoutMs,
    },
    now,
    AbortSignal.timeout(merchant.webhookTimeoutMs + 1_000),
  );
  const attempt = attemptOf(outcome);
  const acknowledged = outcome.category === "acknowledged";
  const { httpStatus, ...rest } = attempt;
  const audit = caller.role === "ADMIN"
    ? hubAudit(request, "webhook.test", merchantId, context, null, {
      eventId,
      outcome: attempt.outcome,
    })
    : null;
  const event = {
    eventId,
    merchantId,
    type: TEST_EVENT,
    payload,
    acknowledged,
    ...attempt,
    createdAt: now,
  };
  if (acknowledged) {
    const recorded = await inOutboxPlace(context, merchantId, "test", async () => {
      await recordTestEvent(sql, event, audit);
      return true;
    });
    if (recorded === null) {
      await recordTestEvent(sql, event, audit, false);
      return PAUSE_LEFT;
    }
  } else await recordTestEvent(sql, event, audit);
  if (acknowledged) wakeWebhooks(merchantId);
  return ok({ success: acknowledged, eventId, event: TEST_EVENT, status: httpStatus, ...rest });
}

/** An attempt as the delivery log shows it. */
function attemptOf(outcome: AttemptOutcome) {
  return {
    outcome: outcome.category === "network" ? outcome.code : outcome.category,
    httpStatus: "status" in outcome ? outcome.status : null,
    durationMs: outcome.durationMs,
    answer: "answer" in outcome ? outcome.answer : null,
  };
}

const HOUR_MS = 3_600_000;

const overlap = { overlapHours: z.int().min(0).max(168).default(24) };

export const rotateWebhookSecret = route({
  at: "POST /api/merchants/{merchantId}/webhook/rotate-secret",
  summary: "Make a new signing secret; the old one signs beside it for a while",
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  needsActiveMerchant: true,
  rateCategory: "transactions",
  body: z.looseObject(overlap).prefault({}),
  responses: { 200: { description: "The new secret, shown this once", schema: secretRotated } },
  errors: ["record_not_found"],
  handler: async ({ body, ...request }, context) => {
    const { caller, merchantId, now } = request;
    const refusal = refuseUnknownFields(caller, body, overlap) ??
      await refuseUnknownMerchant(context.sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const webhookSecret = newWebhookSecret();
    const isReadable = await signsNow(merchantId, context);
    const until = body.overlapHours === 0 || !isReadable ? null : now + body.overlapHours * HOUR_MS;
    const outcome = await context.merchants.ask(merchantId, {
      type: "update-profile",
      at: now,
      patch: {
        webhookSecret: await context.callbackSecrets.seal(webhookSecret, merchantId),
        webhookPreviousUntil: until,
      },
      audit: auditStamp(request, "merchant.rotate-webhook-secret", context),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { merchantId });
    return ok(shown(secretRotated, { webhookSecret, previousValidUntil: until }));
  },
});

/** True where callbacks can be signed with the secret that a merchant has; one that is lost signs beside no other. */
async function signsNow(
  merchantId: string,
  { sql, callbackSecrets }: Pick<ApiContext, "sql" | "callbackSecrets">,
): Promise<boolean> {
  const merchant = await readMerchant(sql, merchantId);
  if (merchant === null) return false;
  return await openIfReadable(callbackSecrets.open, merchant.webhookSecret, merchantId) !== null;
}
