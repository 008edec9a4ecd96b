/**
 * The part of a transaction that comes from the chain: how much gas it may use, and at which price. Its
 * nonce stands in the envelope beside it.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, fromTokenUnits } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { Envelope } from "../../chain.ts";
import type { FeeEstimate } from "../../fees.ts";

/** ETH and BNB have 18 decimals; their smallest unit is the wei. */
export const COIN_DECIMALS = 18;
/** Gas of a transfer of coin to an address without code (Ethereum yellow paper, appendix G). */
export const PLAIN_GAS = 21_000n;

/** Wei as an amount of coin. */
export function weiAmount(wei: bigint): Amount {
  return fromTokenUnits(wei, COIN_DECIMALS);
}

/** A whole number of wei, written in decimal digits; below 2^96, of which there is no more in any chain's coin. */
const wei = z.string().regex(/^(0|[1-9][0-9]{0,28})$/).transform(BigInt);

/** The fields of an envelope, see {@linkcode EnvelopeFields}. */
export const envelopeFieldsSchema = z.strictObject({
  gas: z.number().int().min(21_000).max(30_000_000),
  maxFeePerGas: wei,
  maxPriorityFeePerGas: wei,
  authorize: z.string().regex(/^\d{1,3}:\d{1,9}(,\d{1,3}:\d{1,9})*$/).optional(),
});

/** Gas and prices of a transaction; prices in wei. */
export interface EnvelopeFields {
  readonly gas: number;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /**
   * Addresses that authorise the sweep's delegate in the transaction, as `place:nonce` with commas between them:
   * a place counts its intents from 0, the nonce is that of the address. Absent: none does.
   */
  readonly authorize?: string | undefined;
}

/** The fields as an envelope carries them, JSON-safe. */
export function envelopeTerms(
  { gas, maxFeePerGas, maxPriorityFeePerGas, authorize }: EnvelopeFields,
): Readonly<Record<string, string | number>> {
  return {
    gas,
    maxFeePerGas: `${maxFeePerGas}`,
    maxPriorityFeePerGas: `${maxPriorityFeePerGas}`,
    ...(authorize === undefined ? {} : { authorize }),
  };
}

/**
 * An envelope with the terms of an estimate. Nothing ends it but its nonce.
 *
 * @throws {RangeError} without a nonce, or with an estimate of another chain
 */
export function makeEnvelope(
  network: Network,
  { terms = {} }: FeeEstimate,
  nonce: number | null,
): Envelope {
  if (nonce !== null && envelopeFieldsSchema.safeParse(terms).success) {
    return { network, fields: terms, diesAfter: null, nonce, expiresAt: null };
  }
  throw new RangeError(
    `Cannot make an envelope of ${network} as it has no nonce, or no terms of its chain: ${nonce}`,
  );
}

/** The addresses that authorise the delegate: nonces by the places of their intents. */
export function authorizedPlaces({ authorize }: EnvelopeFields): ReadonlyMap<number, number> {
  if (authorize === undefined) return new Map();
  return new Map(
    authorize.split(",").map((one) => {
      const [place = "", nonce = ""] = one.split(":");
      return [Number(place), Number(nonce)];
    }),
  );
}
