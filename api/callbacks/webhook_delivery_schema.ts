/**
 * Deliveries of events as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { EVENT_TYPES, TEST_EVENT } from "../../webhooks/event_type.ts";
import { EVENT_EXAMPLES } from "./event_payloads_schema.ts";
import { EXAMPLE, exampleId, id, onePage, paginationSchema, timestamp } from "../http/formats.ts";

const httpStatus = z.int().nullable().meta({ description: "HTTP status of the endpoint's answer" });
const answer = z.string().nullable().meta({ description: "Its first 2 kB" });

/** One event with its attempts. */
export const webhookDelivery = z.object({
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
export const webhookDeliveryPage = z.object({
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

/** What the reference shows for one delivery. */
export const WEBHOOK_DELIVERY_EXAMPLE = {
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

/** What the reference shows for the delivery log. */
export const WEBHOOK_DELIVERY_PAGE_EXAMPLE = {
  deliveries: [WEBHOOK_DELIVERY_EXAMPLE],
  pagination: onePage(20),
};

/** What the reference shows for a test delivery. */
export const WEBHOOK_TESTED_EXAMPLE = {
  success: true,
  eventId: exampleId("evt"),
  event: TEST_EVENT,
  status: 200,
  outcome: "acknowledged",
  durationMs: 84,
  answer: '{"ok":true}',
};

/** What the reference shows for a new secret. */
export const WEBHOOK_SECRET_ROTATED_EXAMPLE = {
  webhookSecret: "whsec_...",
  previousValidUntil: "2026-08-14T09:30:00.000Z",
};
