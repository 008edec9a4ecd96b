/**
 * Bytes that JSON is made of, for what reads it in pieces.
 *
 * @module
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN = 0x7b;
export const CLOSE = 0x7d;
/** Blank, tab and line ends are no larger. */
export const LAST_BLANK = 0x20;

/** True for what may stand between values: blank, tab and line ends, no other control characters. */
export function isBlank(byte: number): boolean {
  return byte === LAST_BLANK || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
