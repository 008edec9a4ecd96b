/**
 * JSON as a value.
 *
 * @module
 */

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** An object of JSON. */
export type JsonObject = { readonly [name: string]: Json };

/** The JSON of a value; what JSON cannot say is left out. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

/** The JSON of an object. */
export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}
