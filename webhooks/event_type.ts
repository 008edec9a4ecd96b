/**
 * The kinds of events that are sent to merchants, and which of them a merchant wants.
 *
 * @module
 */

/** Every event name that is ever sent. Pending states have no event. */
export const EVENT_TYPES = [
  "deposit.confirmed",
  "deposit.failed",
  "withdrawal.confirmed",
  "withdrawal.failed",
  "transaction.confirmed",
  "transaction.failed",
] as const;

/** One of {@linkcode EVENT_TYPES}. */
export type EventType = (typeof EVENT_TYPES)[number];

/** True if the text names an event. */
export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}

/** The event of a test delivery; nothing has happened, and no consumer books anything on it. */
export const TEST_EVENT = "webhook.test";

/** Everything that is ever sent. */
export type SentType = EventType | typeof TEST_EVENT;

/** True if the text names something that is sent. */
export function isSentType(text: string): text is SentType {
  return text === TEST_EVENT || isEventType(text);
}

/**
 * Names that a merchant may list in its subscription: everything that is sent, and what is known not to be
 * (pending states have no event, `payout.*` is not emitted), so that a list made for more than this
 * service sends is taken. Anything else is a mistake after which nothing would arrive.
 */
export const LISTED_EVENT =
  /^((deposit|withdrawal)\.(pending|confirmed|failed)|transaction\.(confirmed|failed)|webhook\.test|payout\.[a-z0-9_.-]{1,57})$/;

/** A merchant's wish for events. Applied when an event is written. */
interface Subscription {
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
