/**
 * The kinds of events that merchants can be told of.
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

/** Whether the text names an event. */
export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
