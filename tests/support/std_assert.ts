/**
 * The functions of `@std/assert` that the tests use, with the same names and meanings, for as long
 * as the registry that package lives in cannot be relied on. `deno.json` maps `@std/assert` here.
 *
 * @module
 */

import { equal } from "./equal.ts";

export { equal };

/** What a failed assertion throws. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

// deno-lint-ignore no-explicit-any -- any constructor, as in @std/assert: its arguments are not used
type Constructor<T> = abstract new (...args: any[]) => T;

/** What {@linkcode assertArrayIncludes} searches in. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

const LONGEST_DIFF_LINES = 400;

function print(value: unknown): string {
  return Deno.inspect(value, {
    depth: 100,
    sorted: true,
    trailingComma: true,
    compact: false,
    iterableLimit: Infinity,
    strAbbreviateSize: Infinity,
  });
}

function suffix(message: string | undefined): string {
  return message === undefined ? "" : `: ${message}`;
}

/** Lines of two texts, `-` only in the first, `+` only in the second (longest common part kept). */
function diff(actual: string, expected: string): string {
  const a = actual.split("\n");
  const b = expected.split("\n");
  if (a.length > LONGEST_DIFF_LINES || b.length > LONGEST_DIFF_LINES) {
    return `- ${actual}\n+ ${expected}`;
  }
  const common = Array.from(
    { length: a.length + 1 },
    () => new Array<number>(b.length + 1).fill(0),
  );
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      (common[i] as number[])[j] = a[i] === b[j]
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(`  ${a[i]}`);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`- ${a[i++]}`);
    } else {
      lines.push(`+ ${b[j++]}`);
    }
  }
  return lines.join("\n");
}

/** Fails unless the expression is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Fails unless the expression is falsy. */
export function assertFalse(expr: unknown, msg?: string): void {
  if (expr) throw new AssertionError(`Expected expression to be falsy${suffix(msg)}`);
}

/** Fails always. */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${suffix(msg)}`);
}

/** Fails when reached. */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${suffix(msg)}`);
}

/** Fails unless the two are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg)}\n\n    [Diff] - Actual / + Expected\n\n` +
      diff(print(actual), print(expected)),
  );
}

/** Fails when the two are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${print(actual)} not to be: ${print(expected)}${suffix(msg)}`,
  );
}

/** Fails unless the two are the same value (`Object.is`). */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const [a, b] = [print(actual), print(expected)];
  throw new AssertionError(
    a === b
      ? `Values have the same structure but are not reference-equal${suffix(msg)}\n\n${a}`
      : `Values are not strictly equal${suffix(msg)}\n\n${diff(a, b)}`,
  );
}

/** Fails when the two are the same value (`Object.is`). */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!Object.is(actual, expected)) return;
  throw new AssertionError(
    `Expected "actual" to not be strictly equal to: ${print(actual)}${suffix(msg)}`,
  );
}

/** Fails when the value is null or undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to not be null or undefined${suffix(msg)}`,
  );
}

/** Fails unless the value is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Constructor<T>,
  msg?: string,
): asserts actual is T {
  if (actual instanceof expectedType) return;
  throw new AssertionError(
    `Expected object to be an instance of "${expectedType.name}" but was ${print(actual)}${
      suffix(msg)
    }`,
  );
}

/** Fails unless the text matches the pattern. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (matches(expected, actual)) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to match: "${expected}"${suffix(msg)}`,
  );
}

/** Fails when the text matches the pattern. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!matches(expected, actual)) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to not match: "${expected}"${suffix(msg)}`,
  );
}

function matches(pattern: RegExp, text: string): boolean {
  // A fresh copy: a `g` or `y` pattern remembers where it stopped last time.
  return new RegExp(pattern.source, pattern.flags).test(text);
}

/** Fails unless the text contains the other one. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to contain: "${expected}"${suffix(msg)}`,
  );
}

/** Fails unless every expected element is deeply equal to one of the array's. */
export function assertArrayIncludes<T>(
  actual: ArrayLikeArg<T>,
  expected: ArrayLikeArg<T>,
  msg?: string,
): void {
  const missing = Array.from(expected).filter((wanted) =>
    !Array.from(actual).some((found) => equal(wanted, found))
  );
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: "${print(actual)}" to include: "${print(expected)}"${suffix(msg)}\nmissing: ${
      print(missing)
    }`,
  );
}

/** Fails unless the object has the expected properties, deeply; others are ignored. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- as in @std/assert: interfaces have no index signature
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals<unknown>(narrowTo(actual, expected), narrowTo(expected, expected), msg);
}

function narrowTo(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) {
    return value.map((element, index) => narrowTo(element, shape[index]));
  }
  if (!isPlain(value) || !isPlain(shape)) return value;
  const keys = Reflect.ownKeys(shape).filter((key) => key in value);
  return Object.fromEntries(
    keys.map((key) => [key, narrowTo(Reflect.get(value, key), Reflect.get(shape, key))]),
  );
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Map) && !(value instanceof Set) && !(value instanceof Date) &&
    !(value instanceof RegExp);
}

/** Fails unless `|actual - expected| <= tolerance` (default: 10^-7 of the expected value). */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ?? (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  const delta = Math.abs(expected - actual);
  if (delta <= allowed) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to be close to "${expected}": delta "${delta}" is greater than "${allowed}"${
      suffix(msg)
    }`,
  );
}

function assertOrder<T>(holds: boolean, sign: string, actual: T, expected: T, msg?: string): void {
  if (holds) return;
  throw new AssertionError(`Expect ${print(actual)} ${sign} ${print(expected)}${suffix(msg)}`);
}

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  assertOrder(actual > expected, ">", actual, expected, msg);
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  assertOrder(actual >= expected, ">=", actual, expected, msg);
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  assertOrder(actual < expected, "<", actual, expected, msg);
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  assertOrder(actual <= expected, "<=", actual, expected, msg);
}

/** Fails unless the value is an error of the class whose message includes (or matches) the text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: Constructor<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) {
    throw new AssertionError(`Expected "error" to be an Error object${suffix(msg)}`);
  }
  if (ErrorClass !== undefined && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", but was "${error.constructor.name}": ${error.message}${
        suffix(msg)
      }`,
      { cause: error },
    );
  }
  if (msgMatches === undefined) return;
  const fits = typeof msgMatches === "string"
    ? error.message.includes(msgMatches)
    : matches(msgMatches, error.message);
  if (!fits) {
    throw new AssertionError(
      `Expected error message to ${typeof msgMatches === "string" ? "include" : "match"} ${
        print(msgMatches)
      }, but got ${print(error.message)}${suffix(msg)}`,
      { cause: error },
    );
  }
}

function checkThrown<E extends Error>(
  thrown: unknown,
  classOrMsg: Constructor<E> | string | undefined,
  msgIncludes: string | undefined,
  msg: string | undefined,
): unknown {
  if (typeof classOrMsg === "function") assertIsError(thrown, classOrMsg, msgIncludes, msg);
  return thrown;
}

/** Fails unless the function throws; returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless the function throws an error of the class, whose message includes the text. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: Constructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  try {
    fn();
  } catch (error) {
    return checkThrown(error, classOrMsg, msgIncludes, msg);
  }
  throw new AssertionError(
    `Expected function to throw${suffix(typeof classOrMsg === "string" ? classOrMsg : msg)}`,
  );
}

/** Fails unless the function's promise rejects; resolves to what it rejected with. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Fails unless the promise rejects with an error of the class, whose message includes the text. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: Constructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
  } catch (error) {
    throw new AssertionError("Function throws when expected to reject", { cause: error });
  }
  try {
    await promise;
  } catch (error) {
    return checkThrown(error, classOrMsg, msgIncludes, msg);
  }
  throw new AssertionError(
    `Expected function to reject${suffix(typeof classOrMsg === "string" ? classOrMsg : msg)}`,
  );
}
