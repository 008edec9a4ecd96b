/**
 * Refusals that nodes and their providers put into words instead of fields: what any dialect needs to
 * read them. The words themselves are those of a family of chains.
 *
 * @module
 */

import { hexToBytes } from "@noble/hashes/utils.js";

const LONGEST = 300;

/** Takes out of a text what must not be shown. */
type Mask = (text: string) => string;

/**
 * Makes a node's message readable and harmless: hex becomes UTF-8, control characters become
 * spaces, the length is bounded.
 *
 * @param masked takes the node's secrets out: nodes repeat the path that they were asked at
 */
function decodeNodeMessage(message: string, masked: Mask): string {
  const isHex = message.length % 2 === 0 && /^[0-9a-f]+$/i.test(message);
  const text = isHex ? new TextDecoder().decode(hexToBytes(message)) : message;
  return masked(text.replace(/\p{C}+/gu, " ")).trim().slice(0, LONGEST);
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

/** A node's own words, bounded and harmless, for a log line or an operator; see {@linkcode decodeNodeMessage}. */
export function wordsOf(body: string, masked: Mask): string {
  // a secret that the bound cuts through would not be found behind it
  return decodeNodeMessage(masked(body).slice(0, LONGEST_REFUSAL), masked);
}
