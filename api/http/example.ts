/**
 * Examples of the reference, written into the schemas that they are examples of.
 *
 * @module
 */

import type { z } from "zod";

const EXAMPLES = new WeakMap<z.core.$ZodType, unknown>();

/**
 * Gives a schema an example.
 *
 * @param example for a field of an object also undefined: the field is left out
 * @returns the schema, or a copy where another field shows the same schema with an example of its own
 */
export function eg<S extends z.ZodType>(schema: S, example: z.input<S>): S {
  const own = schema.clone();
  EXAMPLES.set(own, example);
  return own;
}

/**
 * A value that a schema describes: its own example, or one that is made of those of its parts.
 *
 * @throws {TypeError} when a part has no example
 */
export function exampleOf<S extends z.ZodType>(schema: S): z.input<S> {
  return made(schema) as z.input<S>;
}

/** The schema that another one is a copy of, with more to say. */
function originOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  return schema._zod.parent;
}

/** True where a schema is another one, or a copy of it. */
export function isCopyOf(schema: z.core.$ZodType, base: z.core.$ZodType): boolean {
  for (let at: z.core.$ZodType | undefined = schema; at !== undefined; at = originOf(at)) {
    if (at === base) return true;
  }
  return false;
}

function made(schema: z.core.$ZodType): unknown {
  for (let at: z.core.$ZodType | undefined = schema; at !== undefined; at = originOf(at)) {
    if (EXAMPLES.has(at)) return EXAMPLES.get(at);
  }
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(def.shape).map(([name, field]) => [name, made(field)] as const)
          .filter(([, value]) => value !== undefined),
      );
    case "array":
      return [made(def.element)];
    case "nullable":
    case "optional":
    case "default":
    case "prefault":
      return made(def.innerType);
    case "literal":
      return def.values[0];
    default:
      throw new TypeError(`Cannot show an example as a field has none: ${def.type}`);
  }
}
