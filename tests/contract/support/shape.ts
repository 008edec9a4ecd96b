/**
 * Fields and formats as the contract's tables name them, written down once more by hand so that a
 * mistake in the schemas cannot hide itself.
 *
 * @module
 */

import { assert } from "@std/assert";

/** A check that a value has a format. */
export type Format = (value: unknown) => boolean;

function matching(pattern: RegExp): Format {
  return (value) => typeof value === "string" && pattern.test(value);
}

/** A canonical decimal string that is not negative. */
export const decimal = matching(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);

/** A canonical decimal string. */
export const signed = matching(/^(?!-0$)-?(0|[1-9]\d*)(\.\d*[1-9])?$/);

/** Exactly eight decimals. */
export const eightDecimals = matching(/^(0|[1-9]\d*)\.\d{8}$/);

/** ISO 8601 in UTC. */
export const iso: Format = (value) =>
  matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)(value) &&
  new Date(String(value)).toISOString() === value;

/** ISO 8601 at UTC+8. */
export const isoGmt8 = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$/);

/** Any text. */
export const text: Format = (value) => typeof value === "string" && value !== "";

/** A number of JSON. */
export const number: Format = (value) => typeof value === "number" && Number.isSafeInteger(value);

/** `true` or `false`. */
export const flag: Format = (value) => typeof value === "boolean";

/** An object of JSON. */
export const object: Format = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An array of JSON. */
export const list: Format = (value) => Array.isArray(value);

/** An id with its prefix and a UUIDv7. */
export function id(prefix: string): Format {
  return matching(
    new RegExp(`^${prefix}_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
  );
}

/** A TRON address. */
export const tronAddress = matching(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);

/** A transaction id on TRON. */
export const txHash = matching(/^[0-9a-f]{64}$/);

/** One of some texts. */
export function oneOf(...texts: readonly string[]): Format {
  return (value) => typeof value === "string" && texts.includes(value);
}

/** Null, or what the format says. */
export function orNull(format: Format): Format {
  return (value) => value === null || format(value);
}

/** Currency of the contract. */
export const currency = oneOf("USDT", "USDC");

/** NetworkSymbol of the contract. */
export const network = oneOf(
  "TRX",
  "ETH",
  "BNB",
  "SOL",
  "TRX_SHASTA",
  "SEP",
  "tBNB",
  "SOL_DEVNET",
);

/**
 * Checks that every named field is there with its format. More fields may be there: the reference
 * decides on those.
 */
export function assertFields(row: unknown, fields: Readonly<Record<string, Format>>): void {
  assert(object(row), `not an object: ${JSON.stringify(row)}`);
  const values = new Map(Object.entries(row as object));
  for (const [name, format] of Object.entries(fields)) {
    assert(values.has(name), `${name} is missing in ${JSON.stringify(row)}`);
    assert(format(values.get(name)), `${name} has the wrong format: ${values.get(name)}`);
  }
}
