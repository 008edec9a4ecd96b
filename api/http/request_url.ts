/**
 * Query strings. Read by hand, because URLSearchParams turns broken escapes and bytes that are not
 * UTF-8 into replacement characters instead of refusing them.
 *
 * @module
 */

import { isForbiddenText } from "./strict_json.ts";

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
  if (!url.includes("?")) return NONE;
  const fields = new Map<string, string>();
  for (const { name, value } of partsOf(url)) {
    if (name === null || value === null) return { kind: "fault", code: "malformed" };
    if (isForbiddenText(name) || isForbiddenText(value)) {
      return { kind: "fault", code: "forbidden_text" };
    }
    if (fields.has(name)) return { kind: "fault", code: "duplicate_key" };
    fields.set(name, value);
  }
  return fields.size === 0 ? NONE : { kind: "fields", fields: Object.fromEntries(fields) };
}

/**
 * Reads what can be read of a link that people were sent. On its way to them mail programs and
 * trackers add to it, double parts and break them: such parts are passed over, of several with the
 * same name the first counts.
 *
 * @param url the whole URL as it was requested
 */
export function readableFields(url: string): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const { name, value } of partsOf(url)) {
    if (name === null || value === null || fields.has(name)) continue;
    if (isForbiddenText(name) || isForbiddenText(value)) continue;
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** The parts of a query string, decoded; null where that is not possible. */
function* partsOf(url: string): Generator<{ name: string | null; value: string | null }> {
  const start = url.indexOf("?");
  if (start === -1) return;
  const end = url.indexOf("#", start);
  const text = url.slice(start + 1, end === -1 ? undefined : end);
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    yield {
      name: decode(equals === -1 ? part : part.slice(0, equals)),
      value: equals === -1 ? "" : decode(part.slice(equals + 1)),
    };
  }
}

/** Text of one percent-encoded part, or null when it is broken or not UTF-8. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/**
 * Checks that the path of a request can name anything: its percent-encoding is well-formed UTF-8, which
 * excludes lone surrogates, and no part of it holds a NUL. The database can store neither, and one
 * such text in a batch would fail the statement that reads for all of its merchants.
 *
 * @param url as it was asked for
 * @param params parts of the path as the router decoded them
 */
export function isReadablePath(url: string, params: Readonly<Record<string, string>>): boolean {
  if (Object.values(params).some(isForbiddenText)) return false;
  if (!url.includes("%")) return true;
  // a Host header may make it no URL at all
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  try {
    return !isForbiddenText(decodeURIComponent(parsed.pathname));
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
