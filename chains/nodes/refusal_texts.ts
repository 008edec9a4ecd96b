/**
 * Refusals that nodes and their providers put into words instead of fields: what any dialect needs to
 * read them. The words themselves are those of a family of chains.
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
export const LONGEST_REFUSAL = 2_000;
/** A provider may suspend for minutes; a hostile node must not be left alone for days. */
export const LONGEST_SUSPENSION_MS = 120_000;

/** Content of a refusal for asking too much. */
export interface Suspension {
  /** Milliseconds for which nothing is answered, bounded. */
  readonly ms: number;
  /** Calls per second that would have been answered, where the text says so. */
  readonly perSecond: number | null;
}

/** A node's own words, bounded and harmless, for a log line or an operator. */
export function wordsOf(body: string): string {
  return decodeNodeMessage(body.slice(0, LONGEST_REFUSAL));
}
