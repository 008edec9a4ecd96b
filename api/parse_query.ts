/**
 * Query strings. Read by hand, because URLSearchParams turns broken escapes and bytes that are not
 * UTF-8 into replacement characters instead of refusing them.
 *
 * @module
 */

import { isForbiddenText } from "./strict_json.ts";

/** What a query string turned out to be. */
export type Query =
  | { readonly kind: "fields"; readonly fields: Readonly<Record<string, string>> }
  | {
    readonly kind: "fault";
    readonly code: "malformed" | "duplicate_key" | "forbidden_text";
  };

const NONE: Query = { kind: "fields", fields: {} };

/**
 * Reads the query string of a URL.
 *
 * @param url the whole URL as it was requested
 */
export function parseQuery(url: string): Query {
  const start = url.indexOf("?");
  if (start === -1) return NONE;
  const end = url.indexOf("#", start);
  const text = url.slice(start + 1, end === -1 ? undefined : end);
  const fields = new Map<string, string>();
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? "" : decode(part.slice(equals + 1));
    if (name === null || value === null) return { kind: "fault", code: "malformed" };
    if (isForbiddenText(name) || isForbiddenText(value)) {
      return { kind: "fault", code: "forbidden_text" };
    }
    if (fields.has(name)) return { kind: "fault", code: "duplicate_key" };
    fields.set(name, value);
  }
  return { kind: "fields", fields: Object.fromEntries(fields) };
}

/** Text of one percent-encoded part, or null when it is broken or not UTF-8. */
export function decode(part: string): string | null {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
