/**
 * A merchant's endpoint as it is shown.
 *
 * @module
 */

import { z } from "zod";
import { COUNTED_AT_MOST } from "../../ledger/outbox/endpoint_status.ts";
import { EXAMPLE, exampleId, id, timestamp } from "../http/formats.ts";

/** What is known of an endpoint. */
export const webhookEndpoint = z.object({
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

/** What the reference shows for an endpoint. */
export const WEBHOOK_ENDPOINT_EXAMPLE = {
  state: "paused",
  since: EXAMPLE.time,
  failures: 412,
  lastOutcome: "timeout",
  lastFailedAt: EXAMPLE.later,
  nextProbeAt: EXAMPLE.later,
  waiting: 1_204,
  lastDeliveredAt: EXAMPLE.time,
};

/** What the reference shows for the redelivery of a range. */
export const WEBHOOK_REDELIVERED_EXAMPLE = {
  redelivered: 120,
  isComplete: true,
  lastEventId: exampleId("evt"),
};
