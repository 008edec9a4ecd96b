import { COMMA, OPEN, OPEN_LIST } from "./json_bytes.ts";

/** Shorter texts are read within a part of a second, whatever they have; a list of an account's tokens is one. */
const SHORT_BYTES = 1024 * 1024;
/**
 * Bytes for each member, list or object of a long text at least: blocks and receipts, which are mostly hashes, have 25
 * and more.
 */
const LEAST_BYTES = 16;

/**
 * True for a long text of JSON that has more members than any answer of a node: it takes the thread many times as long
 * to read as its length lets expect.
 */
export function isCrowded(text: Uint8Array): boolean {
  if (text.length <= SHORT_BYTES) return false;
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text[i];
    if (byte === COMMA || byte === OPEN_LIST || byte === OPEN) members++;
  }
  return members > text.length / LEAST_BYTES;
}
