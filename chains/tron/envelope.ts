/**
 * TRON's envelope: reference block, times and fee limit of a transaction to be signed.
 *
 * @module
 */

import { z } from "zod";
import type { Network } from "../../ledger/money/pair.ts";
import { toTokenUnits } from "../../ledger/money/amount.ts";
import type { BlockRef, Envelope, FeeEstimate } from "../chain.ts";
import { TRX_DECIMALS } from "./parse_block.ts";

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
  return { network, fields, expiresAt: expiration };
}
