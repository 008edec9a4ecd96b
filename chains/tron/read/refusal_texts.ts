/**
 * Words in which java-tron and the providers of its nodes refuse, and paths in which it is asked for
 * blocks.
 *
 * @module
 */

import {
  LONGEST_REFUSAL,
  LONGEST_SUSPENSION_MS,
  type Suspension,
} from "../../nodes/refusal_texts.ts";

/** Answer of java-tron's own rate limiter, with HTTP 200. */
const BUSY_TEXT = "lack of computing resources";

/** Reads a suspension from a body, whatever its status; `null` where there is none. */
export function suspensionIn(body: string): Suspension | null {
  if (body.length > LONGEST_REFUSAL) return null;
  const match = /suspended\s+for\s+(\d{1,6})\s*(ms|milliseconds?|s|sec|seconds?|m|min|minutes?)\b/i
    .exec(body);
  if (match === null) return null;
  const unit = (match[2] ?? "s").toLowerCase();
  const factor = unit.startsWith("ms") || unit.startsWith("milli")
    ? 1
    : unit.startsWith("m")
    ? 60_000
    : 1_000;
  const limit = /frequency\s+limit\s*\(\s*(\d{1,6})/i.exec(body);
  return {
    ms: Math.min(Number(match[1]) * factor, LONGEST_SUSPENSION_MS),
    perSecond: limit === null ? null : Number(limit[1]),
  };
}

/** True for a body which says that the node does not serve this call at all. */
export function saysNotServed(body: string): boolean {
  return body.length <= LONGEST_REFUSAL &&
    /\bAPI\b[^"]{0,40}\b(is|was)\s+(closed|unavailable|disabled|not\s+(open|available|supported))/i
      .test(body);
}

/** True for the path of a call that reads blocks. */
export function readsBlocks(path: string): boolean {
  return /\/(getblock|getnowblock|gettransactioninfobyblocknum)/.test(path);
}

/** True for a text of a node that has too much to do. */
export function saysBusy(text: string): boolean {
  return text.includes(BUSY_TEXT);
}
