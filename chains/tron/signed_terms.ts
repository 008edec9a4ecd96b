import { z } from "zod";
import { fromTokenUnits } from "../../ledger/money/amount.ts";
import type { SignedTerms } from "../chain.ts";
import { TRX_DECIMALS } from "./parse_block.ts";

/** Reference blocks are named by the lowest 16 bits of their height. */
const HEIGHTS = 0x10000;

const bytesSchema = z.object({
  raw_data: z.object({
    ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/),
    fee_limit: z.int().nonnegative().optional(),
  }),
});

/**
 * Reads the terms that signed bytes carry. Their reference block is the one nearest to `near` whose
 * lowest 16 bits they name: the next ones that end like it are 54 hours away, and no signature lives
 * for half of that.
 *
 * @param bytes a transaction as it is broadcast
 * @param near height of a block of about the time at which they were signed
 * @throws {RangeError} when they are no transaction
 */
export function signedTerms(bytes: string, near: number): SignedTerms {
  const parsed = bytesSchema.safeParse(jsonOf(bytes));
  if (!parsed.success) {
    throw new RangeError("Cannot tell the reference block as the bytes are no transaction");
  }
  const { ref_block_bytes, fee_limit = 0 } = parsed.data.raw_data;
  const low = parseInt(ref_block_bytes, 16);
  // how far it is below, counted in one round of the lowest bits
  const below = ((near - low) % HEIGHTS + HEIGHTS) % HEIGHTS;
  const beginning = near - below + (below > HEIGHTS / 2 ? HEIGHTS : 0);
  return { beginning, feeLimit: fromTokenUnits(BigInt(fee_limit), TRX_DECIMALS) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
