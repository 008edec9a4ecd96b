/**
 * Values as an answer shows them: the schema that documents an answer also says which fields of a
 * record are part of it, so that nothing else gets out.
 *
 * @module
 */

import type { z } from "zod";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { isCopyOf } from "./example.ts";
import { moment, timestamp } from "./fields.ts";

/** The value that a shown one is made of: amounts and instants as the service keeps them. */
type Kept<T> = T extends z.$brand<"amount"> ? Amount | string
  : T extends z.$brand<"instant"> ? number | Date | string
  : T extends string ? string
  : T extends readonly (infer E)[] ? readonly Kept<E>[]
  : T extends object ? { readonly [K in keyof T]: Kept<T[K]> }
  : T;

type Writer = (value: unknown) => unknown;

const WRITERS = new WeakMap<z.core.$ZodType, Writer>();

/**
 * A record as its schema shows it: the schema's fields and no others, amounts as decimal strings
 * and instants (Unix milliseconds) as ISO 8601.
 */
export function shown<S extends z.ZodObject>(schema: S, record: Kept<z.output<S>>): z.input<S> {
  return writerOf(schema)(record) as z.input<S>;
}

function writerOf(schema: z.core.$ZodType): Writer {
  let writer = WRITERS.get(schema);
  if (writer === undefined) WRITERS.set(schema, writer = made(schema));
  return writer;
}

function made(schema: z.core.$ZodType): Writer {
  if (isCopyOf(schema, timestamp) || isCopyOf(schema, moment)) return timeText;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "string":
      return amountText;
    case "object": {
      const fields = Object.entries(def.shape)
        .map(([name, field]) => ({ name, write: writerOf(field) }));
      return (record) => fieldsOf(record as Readonly<Record<string, unknown>>, fields);
    }
    case "array": {
      const write = writerOf(def.element);
      return write === asItIs ? asItIs : (list) => (list as readonly unknown[]).map(write);
    }
    case "nullable":
    case "optional": {
      const write = writerOf(def.innerType);
      return (value) => value === null || value === undefined ? value : write(value);
    }
    default:
      return asItIs;
  }
}

function fieldsOf(
  record: Readonly<Record<string, unknown>>,
  fields: readonly { readonly name: string; readonly write: Writer }[],
): Readonly<Record<string, unknown>> {
  const out: Record<string, unknown> = {};
  for (const { name, write } of fields) out[name] = write(record[name]);
  return out;
}

const asItIs: Writer = (value) => value;
const amountText: Writer = (value) =>
  typeof value === "bigint" ? formatAmount(value as Amount) : value;
const timeText: Writer = (value) => new Date(value as number).toISOString();
