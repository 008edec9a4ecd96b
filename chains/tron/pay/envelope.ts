/**
 * TRON's envelope: reference block, times and fee limit of a transaction to be signed.
 *
 * @module
 */

import { z } from "zod";
import { toTokenUnits } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { BlockRef, Envelope, SignedTerms } from "../../chain.ts";
import type { FeeEstimate } from "../../fees.ts";
import { sunAmount, TRX_DECIMALS } from "../token_contracts.ts";

/** The signer's salt raises the fee limit of a contract call by less than this: 0.1 TRX. */
export const SALT_SUN = 100_000;

/** Fields of a TRON envelope. */
export const envelopeFieldsSchema = z.strictObject({
  ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/),
  ref_block_hash: z.string().regex(/^[0-9a-f]{16}$/),
  expiration: z.int().positive(),
  timestamp: z.int().positive(),
  fee_limit: z.int().nonnegative(),
});
/** See {@linkcode envelopeFieldsSchema}. */
export type EnvelopeFields = z.infer<typeof envelopeFieldsSchema>;

/**
 * An envelope on a solid block: a node that lags knows it too, and no reorganisation removes it.
 *
 * @param solid its time is the clock of the expiration; the wall clock plays no part
 * @param lifetimeMs how long after the block's time the transaction stays valid
 */
export function makeEnvelope(
  network: Network,
  solid: BlockRef,
  fee: FeeEstimate,
  lifetimeMs: number,
): Envelope {
  const expiration = solid.time + lifetimeMs;
  const fields: EnvelopeFields = {
    ref_block_bytes: (solid.height % 0x10000).toString(16).padStart(4, "0"),
    ref_block_hash: solid.hash.slice(16, 32),
    expiration,
    timestamp: solid.time,
    fee_limit: Number(toTokenUnits(fee.limit, TRX_DECIMALS)),
  };
  return { network, fields, diesAfter: expiration, nonce: null, expiresAt: expiration };
}

/** Reference blocks are named by the lowest 16 bits of their height. */
const HEIGHTS = 0x10000;

const bytesSchema = z.object({
  raw_data: z.object({
    ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/),
    fee_limit: z.int().nonnegative().optional(),
    expiration: z.int().nonnegative(),
  }),
});

/**
 * Reads the terms that signed bytes carry; a tick is block time here. Their reference block is the one nearest to `near` whose
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
  const { ref_block_bytes, fee_limit = 0, expiration } = parsed.data.raw_data;
  const low = parseInt(ref_block_bytes, 16);
  // how far it is below, counted in one round of the lowest bits
  const below = ((near - low) % HEIGHTS + HEIGHTS) % HEIGHTS;
  const beginning = near - below + (below > HEIGHTS / 2 ? HEIGHTS : 0);
  return { beginning, diesAfter: expiration, nonce: null, feeLimit: sunAmount(fee_limit) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
