/** Characters at each end that tell ids and addresses apart. */
const AT_EACH_END = 5;

/**
 * A whole number that equal texts share, and different ids or addresses hardly ever. To hash a piece
 * of a large text, as a map or set of texts does, costs the engine a microsecond; a busy block has a
 * thousand pieces. What has another number is another text; what has the same is still to be compared.
 * `hub.text_key` in the database makes the same number of printable ASCII.
 */
export function textKey(text: string): number {
  let key = 0;
  const { length } = text;
  for (let i = 0; i < AT_EACH_END; i++) {
    // where a short text has no such character: NaN, which counts as 0
    key = (Math.imul(key, 31) + (text.charCodeAt(i) || 0)) | 0;
    key = (Math.imul(key, 31) + (text.charCodeAt(length - 1 - i) || 0)) | 0;
  }
  return key;
}

/** True if no two of the texts are equal. */
export function areDistinct(texts: readonly string[]): boolean {
  return new Set(texts.map(textKey)).size === texts.length ||
    new Set(texts).size === texts.length;
}
