/**
 * What a claim of a transaction is answered.
 *
 * @module
 */

import { z } from "zod";
import { DEPOSIT_PAGE_EXAMPLE, depositSchema } from "./deposit_schema.ts";

const status = z.enum(["credited", "already_credited", "not_final", "not_found", "not_ours"]).meta({
  id: "ClaimStatus",
  description: "`credited`: something was missing and is booked now. `already_credited`: nothing " +
    "was missing. `not_final`: its block may still change, or was not read yet; it is credited when " +
    "it is. " +
    "`not_found`: the network does not know it. `not_ours`: it paid none of your addresses",
});

/** Answer to a claim. */
export const claimResult = z.object({
  deposits: z.array(depositSchema).meta({ description: "Your deposits of this transaction" }),
  status,
}).meta({ id: "ClaimResult" });

/** What the reference shows. */
export const CLAIM_EXAMPLES = {
  credited: { deposits: DEPOSIT_PAGE_EXAMPLE.deposits, status: "credited" },
  not_found: { deposits: [], status: "not_found" },
};
