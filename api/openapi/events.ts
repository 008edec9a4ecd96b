/**
 * The `webhooks` section: what the service sends to merchants.
 *
 * @module
 */

import { EVENT_TYPES, type EventType } from "../../webhooks/events.ts";
import { EVENT_PAYLOADS } from "../callbacks/event_payloads.ts";
import { exampleOf } from "../http/example.ts";
import { type Components, type JsonObject, schemaOf, toJson } from "./json_schema.ts";

const WHEN: Readonly<Record<EventType, string>> = {
  "deposit.confirmed": "A deposit is final and credited. Not sent for deposits under 1 USD.",
  "deposit.failed": "A deposit that was seen can no longer arrive.",
  "withdrawal.confirmed": "A payout is final on chain.",
  "withdrawal.failed":
    "A payout will not happen: it failed, was rejected or was cancelled. The reserved funds are " +
    "back and the referenceId is free.",
  "transaction.confirmed": "A line of the statement is final. Not sent for settlements.",
  "transaction.failed": "A line of the statement is undone. Not sent for settlements.",
};

const DELIVERY =
  "Delivered at least once, retried with exponential back-off until the endpoint answers 2xx with " +
  'a JSON body that contains `"ok": true`. Deduplicate by `eventId`. Verify the signature over ' +
  "the raw body before you parse it.";

export function eventsOf(components: Components): JsonObject {
  return Object.fromEntries(
    EVENT_TYPES.map((event) => [event, { post: eventOf(event, components) }]),
  );
}

function eventOf(event: EventType, components: Components): JsonObject {
  return {
    operationId: `on${
      event.split(".").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
    }`,
    summary: event,
    description: `${WHEN[event]} ${DELIVERY}`,
    tags: ["Events"],
    security: [],
    parameters: [
      header("X-Webhook-Event", "Name of the event", { type: "string", const: event }),
      header(
        "X-Webhook-Signature",
        "Lowercase hex HMAC-SHA256 of the raw body, keyed by the webhook secret",
        { type: "string", pattern: "^[0-9a-f]{64}$" },
      ),
      header("X-Webhook-Id", "Delivery id, the same on every redelivery; equals `eventId`", {
        type: "string",
      }),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemaOf(EVENT_PAYLOADS[event], "output", components),
          example: toJson(exampleOf(EVENT_PAYLOADS[event])),
        },
      },
    },
    responses: {
      "2XX": {
        description: "Acknowledged. Any other answer is retried.",
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: { ok: { type: "boolean", const: true } },
              required: ["ok"],
            },
            example: { ok: true },
          },
        },
      },
    },
  };
}

function header(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "header", required: true, description, schema };
}
