/**
 * Logging: one line for each event, with the same fields wherever it happens.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { type EventName, EVENTS } from "./event_table.ts";

/**
 * The fields of a line for those of the program. What every line has of its own (`@timestamp`, `level`,
 * `logger`, `message`, `event`) gets another name: a field of the same one would take its place in the JSON.
 */
const NAMES: Readonly<Record<string, string>> = {
  merchantId: "merchant",
  merchantIds: "merchants",
  outgoingId: "transfer",
  eventId: "callback",
  depositId: "payment",
  recordId: "payment",
  requestId: "request",
  walletIndex: "index",
  message: "content",
  event: "occurrence",
  level: "degree",
  logger: "writer",
  "@timestamp": "time",
};

/** Errors that say nothing of their cause but that something was not thought of. */
const FAULTS = ["Error", "TypeError", "RangeError", "ReferenceError", "AssertionError"];

/** Errors that stand behind one another and are named. */
const DEEPEST = 4;

/** Logs an event. Its table has the level and the words; `error` becomes the reason. */
export function logEvent(event: EventName, fields: Readonly<Record<string, unknown>> = {}): void {
  const [level, words] = EVENTS[event];
  const [area = ""] = event.split(".");
  const logger = getLogger(["engine", area]);
  if (!logger.isEnabledFor(level)) return;
  const told: Record<string, unknown> = { event };
  for (const [name, value] of Object.entries(fields)) {
    if (name === "error") Object.assign(told, toldOf(value));
    else told[NAMES[name] ?? name] = value;
  }
  switch (level) {
    case "debug":
      return logger.debug(words, told);
    case "info":
      return logger.info(words, told);
    case "warning":
      return logger.warn(words, told);
    case "error":
      return logger.error(words, told);
    case "fatal":
      return logger.fatal(words, told);
    default:
      return level satisfies never;
  }
}

/** An error in words; its place in the program only where the program is at fault. */
function toldOf(error: unknown): { readonly reason: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { reason: String(error) };
  const reasons: string[] = [];
  for (
    let one: unknown = error;
    one instanceof Error && reasons.length < DEEPEST;
    one = one.cause
  ) {
    reasons.push(one.name === "Error" ? one.message : `${one.name}: ${one.message}`);
  }
  const isFault = FAULTS.includes(error.constructor.name) && !("code" in error);
  return {
    reason: reasons.join(", as "),
    ...(isFault && error.stack !== undefined ? { stack: error.stack } : {}),
  };
}
