/**
 * The terms in the bytes of a signed transaction: of those that are kept, only the bytes are.
 *
 * @module
 */

import { parseTransaction } from "viem/utils";
import type { Amount } from "../../../ledger/money/amount.ts";
import type { IncludedTransaction, SignedTerms } from "../../chain.ts";
import { weiAmount } from "./envelope.ts";

/** Terms of one transaction; amounts in wei. */
export interface TransactionTerms {
  readonly nonce: number;
  /** The most gas that it may use. */
  readonly gas: bigint;
  /** The most that one unit of gas may cost, base fee and tip together. */
  readonly maxFeePerGas: bigint;
  /** Offered to the maker of its block for each unit beyond the base fee, at most. */
  readonly maxPriorityFeePerGas: bigint;
  /** Coin that it moves itself. */
  readonly value: bigint;
}

/**
 * Reads the terms of signed bytes.
 *
 * @param bytes of a transaction of type 2 or 4, as hex with `0x`
 * @throws {RangeError} when they are of no such transaction, or of one without a signature
 */
export function readTerms(bytes: string): TransactionTerms {
  const parsed = parse(bytes);
  const { type, r, gas } = parsed;
  if ((type !== "eip1559" && type !== "eip7702") || r === undefined) {
    throw new RangeError(
      `Cannot read a transaction as it is not signed, or of another type: ${type}`,
    );
  }
  if (gas === undefined) throw new RangeError("Cannot read a transaction as it names no gas");
  // a field of zero is an empty text in the bytes, which the library gives as absent
  const { nonce = 0, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, value = 0n } = parsed;
  return { nonce, gas, maxFeePerGas, maxPriorityFeePerGas, value };
}

function parse(bytes: string): ReturnType<typeof parseTransaction> {
  try {
    return parseTransaction(bytes as `0x${string}`);
  } catch (cause) {
    throw new RangeError("Cannot read a transaction as its bytes are malformed", { cause });
  }
}

/**
 * See `Chain.feeOf`: what a receipt calls the price is under no root. The price follows from the transaction's own terms and the
 * base fee of its block, and is never above what it offered. Of a type that is not signed here the node's word counts.
 */
export function feeBySigned(
  { fee, charged }: Pick<IncludedTransaction, "fee" | "charged">,
  bytes: string,
): Amount {
  if (charged === undefined) return fee;
  try {
    const { maxFeePerGas, maxPriorityFeePerGas } = readTerms(bytes);
    const price = charged.base + maxPriorityFeePerGas;
    return weiAmount(BigInt(charged.units) * (price < maxFeePerGas ? price : maxFeePerGas));
  } catch (error) {
    if (error instanceof RangeError) return fee;
    throw error;
  }
}

/**
 * See `Chain.termsOf`: nothing in the bytes refers to a block, and nothing but their nonce ends them.
 *
 * @throws {RangeError} when they are no transaction
 */
export function signedTerms(bytes: string): SignedTerms {
  const { nonce, gas, maxFeePerGas } = readTerms(bytes);
  return { beginning: null, diesAfter: null, nonce, feeLimit: weiAmount(gas * maxFeePerGas) };
}
