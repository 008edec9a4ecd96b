/**
 * Builds transactions as the node does for clients that ask it to: on the head block, expiring a
 * minute after its time.
 *
 * @module
 */

import { referenceOf } from "./block.ts";
import { DEFAULT_EXPIRATION_MS } from "./parameters.ts";
import type { StoredBlock } from "./store.ts";
import { assemble, type ContractValue, encodeRaw, type Transaction } from "./transaction.ts";

/** Options of a transaction besides its contract. */
export interface BuildOptions {
  /** Sun; 0 for none. */
  readonly feeLimit?: number;
  /** Milliseconds after the reference time, default one minute. */
  readonly expiresInMs?: number;
  /** Unix milliseconds the expiration counts from, default the block's time. */
  readonly from?: number;
  /** Unix milliseconds; two otherwise equal transactions need different ones. */
  readonly timestamp: number;
}

/**
 * Builds an unsigned transaction.
 *
 * @param type contract type, for example `TransferContract`
 * @param value its fields, addresses in hex
 * @param block the reference block
 */
export function buildTransaction(
  type: string,
  value: ContractValue,
  block: Pick<StoredBlock, "height" | "id" | "time">,
  options: BuildOptions,
): Transaction {
  const raw = {
    contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
    ...referenceOf(block),
    expiration: (options.from ?? block.time) + (options.expiresInMs ?? DEFAULT_EXPIRATION_MS),
    timestamp: options.timestamp,
    ...(options.feeLimit === undefined ? {} : { fee_limit: options.feeLimit }),
  };
  return assemble(encodeRaw(raw, false), []);
}

/** A transaction that was not signed yet, as the node hands it out. */
export function unsignedJson(transaction: Transaction, visible: boolean): Record<string, unknown> {
  return {
    visible,
    txID: transaction.txid,
    raw_data: transaction.raw,
    raw_data_hex: transaction.rawHex,
  };
}
