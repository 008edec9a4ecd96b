/**
 * Reading of answers without a schema, where they are so long that general machinery takes too much time.
 *
 * @module
 */

/** True for an object that is no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every member read, or `null` when one of them, or the list, is of another shape. */
export function listOf<T>(value: unknown, read: (member: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const found: T[] = [];
  for (const member of value) {
    const one = read(member);
    if (one === null) return null;
    found.push(one);
  }
  return found;
}
