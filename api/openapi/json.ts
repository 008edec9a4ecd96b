/**
 * JSON as a value.
 *
 * @module
 */

/** A value of JSON. */
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

/** Characters of a line at most, where there is a choice. */
const LINE = 100;

/** JSON as text: what holds no lists and objects stands on one line where it fits. */
export function printJson(value: Json, indent = "", before = 0): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{ ", " }"];
  const parts: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json) => ["", item])
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
  if (parts.length === 0) return (open + close).replaceAll(" ", "");
  const isFlat = parts.every(([, item]) => typeof item !== "object" || item === null);
  const line = `${open}${
    parts.map(([name, item]) => name + JSON.stringify(item)).join(", ")
  }${close}`;
  if (isFlat && before + line.length < LINE) return line;
  const inner = `${indent}  `;
  const lines = parts.map(([name, item]) =>
    `${inner}${name}${printJson(item, inner, inner.length + name.length)}`
  );
  return `${open.trim()}\n${lines.join(",\n")}\n${indent}${close.trim()}`;
}
