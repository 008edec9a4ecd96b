/**
 * Errors as the API reference documents them: who causes them, what the body looks like, and an
 * example that the service's own code made.
 *
 * @module
 */

import { z } from "zod";
import type { Answer } from "../http/answer.ts";

/** One documented error. */
export interface ErrorDoc {
  /** Name of its schema, for example `InsufficientBalance`. */
  readonly name: string;
  /** What causes it. */
  readonly description: string;
  readonly schema: z.ZodType;
  /** The answer itself, as the service gives it. */
  readonly example: Answer;
}

/**
 * Documents an error.
 *
 * @param error the text of `error`, or a pattern where the text names something
 * @param extra the fields besides `error`
 */
export function errorDoc(
  name: string,
  description: string,
  example: Answer,
  error: string | RegExp,
  extra: z.ZodRawShape = {},
): ErrorDoc {
  const text = typeof error === "string" ? z.literal(error) : z.string().regex(error);
  return {
    name,
    description,
    schema: z.object({ error: text, ...extra }).meta({ id: `${name}Error`, description }),
    example,
  };
}
