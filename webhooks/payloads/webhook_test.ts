/**
 * Body of a test delivery.
 *
 * @module
 */

import { TEST_EVENT } from "../event_type.ts";

/** JSON text of the event; its type is none of those that tell of money. */
export function webhookTestPayload(eventId: string, createdAt: number): string {
  return JSON.stringify({
    type: TEST_EVENT,
    message: "A test of this endpoint; nothing happened.",
    createdAt: new Date(createdAt).toISOString(),
    eventId,
  });
}
