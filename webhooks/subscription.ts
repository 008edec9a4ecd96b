/**
 * True if a merchant asked to be told of an event. Applied when the event is written.
 *
 * @module
 */

import type { EventType } from "./event_type.ts";

/** What decides whether an event goes out. */
export interface Subscription {
  readonly webhookUrl: string | null;
  readonly webhookEnabled: boolean;
  /** Names that are wanted; null: all of them; empty: none. */
  readonly webhookEvents: readonly string[] | null;
}

/**
 * True if the event is to be delivered. One that is not is stored as skipped, so that it can be
 * sent later on request.
 */
export function isSubscribed(subscription: Subscription, type: EventType): boolean {
  if (!subscription.webhookEnabled || subscription.webhookUrl === null) return false;
  return subscription.webhookEvents === null || subscription.webhookEvents.includes(type);
}
