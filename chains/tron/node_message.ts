/**
 * Texts of nodes: hex in most answers, plain in some.
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
