/**
 * The API reference without references between its parts; those to schemas stay.
 *
 * @module
 */

import { z } from "zod";

const Part = z.record(z.string(), z.unknown());
const Components = z.object({ components: z.record(z.string(), Part) });

const SHARED = /^#\/components\/(responses|parameters|examples)\/(.+)$/;

/** The document with every response, parameter and example in its place. */
export function resolvedReference(document: unknown): unknown {
  const { components } = Components.parse(document);
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== "object" || value === null) return value;
    const [, kind = "", name = ""] = SHARED.exec("$ref" in value ? String(value.$ref) : "") ?? [];
    if (kind === "") {
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolved(part)]));
    }
    const part = components[kind]?.[name];
    if (part === undefined) throw new TypeError(`Cannot find a part of the reference: ${name}`);
    return resolved(part);
  };
  return resolved(document);
}
