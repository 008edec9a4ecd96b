/**
 * Deep equality with the meaning of `@std/assert`'s `equal`: same value in the sense of
 * `Object.is`, same constructor, same own enumerable keys, same elements of maps and sets.
 *
 * @module
 */

type Pairs = WeakMap<object, WeakSet<object>>;

/** Whether two values are deeply equal. */
export function equal(a: unknown, b: unknown): boolean {
  return compare(a, b, new WeakMap());
}

function compare(a: unknown, b: unknown, seen: Pairs): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (!sameConstructor(a, b)) return false;
  if (a instanceof WeakMap || a instanceof WeakSet || a instanceof WeakRef) {
    throw new TypeError(`Cannot compare ${a.constructor.name} as its contents cannot be listed`);
  }
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp || a instanceof URL) return String(a) === String(b);
  if (a instanceof Error && b instanceof Error && a.message !== b.message) return false;
  // A pair that is being compared further up is assumed equal, so that cycles end.
  if (seen.get(a)?.has(b)) return true;
  if (!seen.has(a)) seen.set(a, new WeakSet());
  seen.get(a)?.add(b);
  if (a instanceof Set && b instanceof Set) return sameElements([...a], [...b], seen);
  if (a instanceof Map && b instanceof Map) return sameElements([...a], [...b], seen);
  if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) {
    return compare(new Uint8Array(a), new Uint8Array(b), seen);
  }
  return sameProperties(a, b, seen);
}

function sameConstructor(a: object, b: object): boolean {
  return a.constructor === b.constructor ||
    (a.constructor === Object && !b.constructor) ||
    (!a.constructor && b.constructor === Object);
}

function sameElements(a: readonly unknown[], b: readonly unknown[], seen: Pairs): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((element) => {
    let found = left.findIndex((candidate) => Object.is(element, candidate));
    if (found < 0) found = left.findIndex((candidate) => compare(element, candidate, seen));
    if (found < 0) return false;
    left.splice(found, 1);
    return true;
  });
}

function sameProperties(a: object, b: object, seen: Pairs): boolean {
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  const keys = ownKeys(a);
  if (keys.length !== ownKeys(b).length) return false;
  return keys.every((key) =>
    Object.hasOwn(b, key) && compare(Reflect.get(a, key), Reflect.get(b, key), seen)
  );
}

function ownKeys(value: object): PropertyKey[] {
  const symbols = Object.getOwnPropertySymbols(value)
    .filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol));
  return [...Object.keys(value), ...symbols];
}
