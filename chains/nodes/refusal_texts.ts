/**
 * Reads the refusals that nodes and their providers put into words instead of fields.
 *
 * @module
 */

import { hexToBytes } from "@noble/hashes/utils.js";

const LONGEST = 300;

/**
 * Makes a node's message readable and harmless: hex becomes UTF-8, control characters become
 * spaces, the length is bounded.
 */
export function decodeNodeMessage(message: string): string {
  const isHex = message.length % 2 === 0 && /^[0-9a-f]+$/i.test(message);
  const text = isHex ? new TextDecoder().decode(hexToBytes(message)) : message;
  return text.replace(/\p{C}+/gu, " ").trim().slice(0, LONGEST);
}

/** Refusals are short; blocks, which are long, are not searched. */
const LONGEST_REFUSAL = 2_000;
/** A provider may suspend for minutes; a hostile node must not be left alone for days. */
export const LONGEST_SUSPENSION_MS = 120_000;
/** Answer of java-tron's own rate limiter, with HTTP 200. */
const BUSY_TEXT = "lack of computing resources";

/** Content of a refusal for asking too much. */
export interface Suspension {
  /** Milliseconds for which nothing is answered, bounded. */
  readonly ms: number;
  /** Calls per second that would have been answered, where the text says so. */
  readonly perSecond: number | null;
}

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

/** True for a text of a node that has too much to do. */
export function saysBusy(text: string): boolean {
  return text.includes(BUSY_TEXT);
}

/** A node's own words, bounded and harmless, for a log line or an operator. */
export function wordsOf(body: string): string {
  return decodeNodeMessage(body.slice(0, LONGEST_REFUSAL));
}
