/** JSON values in which something is other than it should be. @module */

/** Every place of a JSON value, as keys from its root. */
export function places(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => places(inner, [...path, key]))];
}

/** A copy in which one place is gone, or something else. */
export function changed(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value)) {
    return value.flatMap((inner, i) => {
      if (String(i) !== key) return [inner];
      const next = changed(inner, rest, put);
      return next === undefined ? [] : [next];
    });
  }
  const entries = Object.entries(value ?? {}).map(([name, inner]) => [
    name,
    name === key ? changed(inner, rest, put) : inner,
  ]);
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}

/** Values put into a place instead; `undefined`: nothing. */
export const ODD: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  1.5,
  2 ** 60,
  "",
  "zz",
  "a".repeat(65),
  {},
  [],
  [null],
  true,
];
