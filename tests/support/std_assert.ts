/**
 * The functions of `@std/assert`, with the same names and meanings, on top of Node's assertions:
 * the registry that the package lives in cannot be relied on. `deno.json` maps `@std/assert` here.
 *
 * @module
 */

import * as node from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

/** The error of a failed assertion. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

// deno-lint-ignore no-explicit-any -- any constructor, as in @std/assert: its arguments are not used
type Constructor<T> = abstract new (...args: any[]) => T;

/** A list that {@linkcode assertArrayIncludes} searches. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

function check(holds: unknown, text: () => string, msg?: string): asserts holds {
  if (!holds) throw new AssertionError(msg === undefined ? text() : `${text()}: ${msg}`);
}

function print(value: unknown): string {
  return Deno.inspect(value, { depth: 100, sorted: true, iterableLimit: Infinity });
}

function matches(text: string, pattern: RegExp): boolean {
  // a fresh copy: a `g` or `y` pattern remembers where it stopped last time
  return new RegExp(pattern).test(text);
}

/** True when two values are deeply equal. */
export function equal(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
}

/** Fails unless the expression is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Fails unless the expression is falsy. */
export function assertFalse(expr: unknown, msg?: string): void {
  check(!expr, () => "Expected expression to be falsy", msg);
}

/** Fails always. */
export function fail(msg?: string): never {
  throw new AssertionError(msg === undefined ? "Failed assertion" : `Failed assertion: ${msg}`);
}

/** Fails when reached. */
export function unreachable(msg?: string): never {
  throw new AssertionError(msg === undefined ? "Unreachable" : `Unreachable: ${msg}`);
}

/** Fails unless the two are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  check(
    equal(actual, expected),
    () => `Values are not equal\n${difference(actual, expected)}`,
    msg,
  );
}

function difference(actual: unknown, expected: unknown): string {
  try {
    node.deepStrictEqual(actual, expected);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return `${print(actual)}\n${print(expected)}`;
}

/** Fails when the two are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  check(!equal(actual, expected), () => `Expected another value than ${print(actual)}`, msg);
}

/** Fails unless the two are the same value (`Object.is`). */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  check(Object.is(actual, expected), () => `${print(actual)} is not ${print(expected)}`, msg);
}

/** Fails when the two are the same value (`Object.is`). */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  check(!Object.is(actual, expected), () => `Expected another value than ${print(actual)}`, msg);
}

/** Fails when the value is null or undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  check(actual !== undefined && actual !== null, () => `Expected a value, not ${actual}`, msg);
}

/** Fails unless the value is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Constructor<T>,
  msg?: string,
): asserts actual is T {
  check(
    actual instanceof expectedType,
    () => `Expected an instance of ${expectedType.name}, not ${print(actual)}`,
    msg,
  );
}

/** Fails unless the text matches the pattern. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  check(matches(actual, expected), () => `Expected "${actual}" to match ${expected}`, msg);
}

/** Fails when the text matches the pattern. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  check(!matches(actual, expected), () => `Expected "${actual}" not to match ${expected}`, msg);
}

/** Fails unless the text contains the other one. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  check(actual.includes(expected), () => `Expected "${actual}" to contain "${expected}"`, msg);
}

/** Fails unless every expected element is deeply equal to one of the array's. */
export function assertArrayIncludes<T>(
  actual: ArrayLikeArg<T>,
  expected: ArrayLikeArg<T>,
  msg?: string,
): void {
  const found = Array.from(actual);
  const missing = Array.from(expected).filter((one) => !found.some((other) => equal(one, other)));
  check(missing.length === 0, () => `${print(found)} lacks ${print(missing)}`, msg);
}

/** Fails unless the object has the expected properties, deeply; others are ignored. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- as in @std/assert: interfaces have no index signature
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(narrowTo(actual, expected), expected, msg);
}

/** The properties of a value that a shape names, deeply. */
function narrowTo(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) {
    return value.map((element, index) => narrowTo(element, shape[index]));
  }
  if (!isPlain(value) || !isPlain(shape)) return value;
  const kept = Reflect.ownKeys(shape).filter((key) => key in value)
    .map((key) => [key, narrowTo(Reflect.get(value, key), Reflect.get(shape, key))]);
  return Object.setPrototypeOf(Object.fromEntries(kept), Object.getPrototypeOf(shape));
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    ![Map, Set, Date, RegExp].some((kind) => value instanceof kind);
}

/** Fails unless `|actual - expected| <= tolerance` (default: 10^-7 of the expected value). */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance = Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7,
  msg?: string,
): void {
  check(
    Object.is(actual, expected) || Math.abs(expected - actual) <= tolerance,
    () => `Expected ${actual} to be within ${tolerance} of ${expected}`,
    msg,
  );
}

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  check(actual > expected, () => `Expected ${print(actual)} > ${print(expected)}`, msg);
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  check(actual >= expected, () => `Expected ${print(actual)} >= ${print(expected)}`, msg);
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  check(actual < expected, () => `Expected ${print(actual)} < ${print(expected)}`, msg);
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  check(actual <= expected, () => `Expected ${print(actual)} <= ${print(expected)}`, msg);
}

/** Fails unless the value is an error of the class whose message includes (or matches) the text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: Constructor<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  const kind = ErrorClass ?? Error;
  check(error instanceof kind, () => `Expected a ${kind.name}, not ${print(error)}`, msg);
  if (msgMatches === undefined || !(error instanceof Error)) return;
  const text = error.message;
  const fits = typeof msgMatches === "string"
    ? text.includes(msgMatches)
    : matches(text, msgMatches);
  check(fits, () => `Expected the message "${text}" to say ${print(msgMatches)}`, msg);
}

function assertThrown<E extends Error>(
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
    return assertThrown(error, classOrMsg, msgIncludes, msg);
  }
  const said = typeof classOrMsg === "string" ? classOrMsg : msg;
  check(false, () => "Expected function to throw", said);
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
    return assertThrown(error, classOrMsg, msgIncludes, msg);
  }
  const said = typeof classOrMsg === "string" ? classOrMsg : msg;
  check(false, () => "Expected function to reject", said);
}
