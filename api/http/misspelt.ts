/**
 * Fields of a body that were probably meant to be others: refused where passing over them may cost money, and named
 * beside a required field that is missing.
 *
 * @module
 */

import { z } from "zod";
import type { Detail } from "./answer.ts";
import { isNearMiss, lettersOf, mostCharacters } from "./near_miss.ts";

/**
 * Fields that keep money from moving twice, unseen or further than it should, or that lead callbacks and
 * customers where they belong, and may be left out: a misspelt one would be passed over, as fields that are
 * not known are.
 */
const GUARDS: ReadonlySet<string> = new Set([
  "referenceId",
  "requestedAmount",
  "requestedCurrency",
  "depositAddressId",
  "metadata",
  "expiresAt",
  "ipAllowlist",
  "webhookUrl",
  "webhookEnabled",
  "webhookEvents",
  "successUrl",
  "failureUrl",
]);

/** Answers to names, by their letters, whose value means something else than the guard's. */
const OTHER_MEANINGS: ReadonlyMap<string, string> = new Map([
  [
    "expiresin",
    "There is no such field. Send expiresAt, the moment of the end, for example 2027-01-31T00:00:00Z",
  ],
  [
    "idempotencykey",
    "There is no such field. A payout takes referenceId for it, other requests the header " +
    "Idempotency-Key. Send referenceId as well, or leave this one out",
  ],
]);

/** Unknown names of a body that are compared; the comparison takes the one thread of all requests. */
const MOST_LOOKED_AT = 32;
/** Characters of a name that are repeated in an answer. */
const LONGEST_SHOWN = 100;

type Body = Readonly<Record<string, unknown>>;

/** A name with its letters, which are made once: it is compared with several others. */
interface Lettered {
  readonly name: string;
  readonly letters: string;
}

function lettered(name: string): Lettered {
  return { name, letters: lettersOf(name) };
}

/** Names of a schema, as those of a body are compared with them. */
interface Fields {
  readonly known: readonly string[];
  /** Characters above which no name can be meant as one of them. */
  readonly longest: number;
}

const FIELDS = new WeakMap<z.ZodObject, Fields>();

/** The fields of a schema, gathered once. */
function fieldsOf(schema: z.ZodObject): Fields {
  let fields = FIELDS.get(schema);
  if (fields === undefined) {
    const known = Object.keys(schema.shape);
    FIELDS.set(schema, fields = { known, longest: mostCharacters(known) });
  }
  return fields;
}

/**
 * The fields of a schema and the first unknown names of a body that are short enough to be meant as one of them;
 * null for what is no object.
 */
function namesOf(schema: z.ZodType, body: unknown) {
  if (!(schema instanceof z.ZodObject) || typeof body !== "object" || body === null) return null;
  const { known, longest } = fieldsOf(schema);
  const unknown = Object.keys(body)
    .filter((name) => name.length <= longest && !Object.hasOwn(schema.shape, name));
  return { body: body as Body, known, unknown: unknown.slice(0, MOST_LOOKED_AT).map(lettered) };
}

/**
 * The fault of a field that was probably meant to be a guard, such as `reference_id` or `refrenceId`; null
 * where there is none, or the guard is there as well.
 */
export function misspeltGuard(schema: z.ZodType, sent: unknown): Detail | null {
  const names = namesOf(schema, sent);
  if (names === null) return null;
  const { body, known, unknown } = names;
  if (unknown.length === 0) return null;
  const missing = known.filter((name) => GUARDS.has(name) && (body[name] ?? null) === null)
    .map(lettered);
  for (const { name, letters } of unknown) {
    const guard = missing.find((one) => isNearMiss(letters, one.letters))?.name;
    if (guard === undefined) continue;
    const message = OTHER_MEANINGS.get(letters) ??
      `There is no such field. Did you mean ${guard}? Send ${guard} as well, or leave this one out`;
    return { path: [name.slice(0, LONGEST_SHOWN)], message, code: "unrecognized_keys" };
  }
  return null;
}

/**
 * The first field of a body that looks like a reference which refuses a repeat, such as `orderId`; for requests
 * that have no such field. One that is null asks for nothing.
 */
export function referenceIn(schema: z.ZodType, sent: unknown): string | null {
  const names = namesOf(schema, sent);
  const letters = lettersOf("referenceId");
  const found = names?.unknown.find((one) =>
    (names.body[one.name] ?? null) !== null && isNearMiss(one.letters, letters)
  );
  return found === undefined ? null : found.name.slice(0, LONGEST_SHOWN);
}

/** Faults in which a required field that is missing names the unknown one that was probably meant to be it. */
export function withMisspelt(
  details: readonly Detail[],
  schema: z.ZodType,
  sent: unknown,
): readonly Detail[] {
  const names = namesOf(schema, sent);
  if (names === null) return details;
  return details.map((detail) => {
    const [field] = detail.path;
    if (detail.path.length !== 1 || field === undefined || Object.hasOwn(names.body, field)) {
      return detail;
    }
    const letters = lettersOf(field);
    const name = names.unknown.find((one) => isNearMiss(one.letters, letters))?.name;
    if (name === undefined) return detail;
    const message = `${detail.message}. Is ${name.slice(0, LONGEST_SHOWN)} meant to be it?`;
    return { ...detail, message };
  });
}
