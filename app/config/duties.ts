/**
 * The variables of separation of duties: who may approve what.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, amountOf, parseAmount } from "../../ledger/money/amount.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { oneOf } from "./variables.ts";

const amount = z.string().transform((text, context): Amount => {
  const found = parseAmount(text);
  if (found !== null && found >= 0n) return found;
  context.issues.push({ code: "custom", message: "is not an amount such as 10000", input: text });
  return z.NEVER;
});

/** Variables of the service as a whole. */
export const DUTIES = {
  FOUR_EYES: oneOf("persons", "keys", "off").optional().describe(
    "who counts as another administrator for approvals: persons = who has the keys from another bootstrap on the server, keys = who uses another key, off = one administrator may do everything; keys in development, otherwise persons",
  ),
  SECOND_ADMINISTRATOR_ABOVE: amount.optional().describe(
    "deposits by hand above this, together with what the same administrator has confirmed in 24 hours, need a second administrator; 100000 in development, otherwise 10000",
  ),
};

/** The settings that the variables stand for. */
export function dutiesOf(
  values: {
    readonly FOUR_EYES?: Duties["fourEyes"] | undefined;
    readonly SECOND_ADMINISTRATOR_ABOVE?: Amount | undefined;
  },
  environment: string,
): Duties {
  const isDevelopment = environment === "development";
  return {
    fourEyes: values.FOUR_EYES ?? (isDevelopment ? "keys" : "persons"),
    aloneUpTo: values.SECOND_ADMINISTRATOR_ABOVE ?? amountOf(isDevelopment ? "100000" : "10000"),
  };
}
