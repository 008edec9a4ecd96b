/**
 * Bodies that merchants and administrators both send: what is not known is ignored for a merchant
 * and refused for an administrator, whose typing error must not become a change left out.
 *
 * @module
 */

import type { Answer } from "./answer.ts";
import { invalidField } from "./errors.ts";
import type { Caller } from "./permission.ts";

/** The 400 for the first field that an administrator sent and nobody knows, otherwise null. */
export function refuseUnknown(
  caller: Caller,
  body: object,
  known: Readonly<Record<string, unknown>>,
): Answer | null {
  if (caller.role !== "ADMIN") return null;
  const unknown = Object.keys(body).find((field) => !Object.hasOwn(known, field));
  return unknown === undefined
    ? null
    : invalidField(unknown, "There is no such field", "unrecognized_keys");
}
