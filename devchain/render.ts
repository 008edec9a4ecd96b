/**
 * The node's JSON for blocks, transactions and receipts, fields in hex and absent where zero, as
 * java-tron prints them. Rendered once when a block is made, then served as bytes.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";
import type { Execution } from "./execute.ts";
import type { Transaction } from "./transaction.ts";

/** A block's header with what names and signs it. */
export interface Header {
  readonly height: number;
  readonly id: string;
  readonly parentId: string;
  /** Unix milliseconds. */
  readonly time: number;
  readonly txTrieRoot: string;
  readonly witness: HexAddress;
  readonly witnessSignature: string;
}

/** Version of the block format that headers carry. */
export const BLOCK_VERSION = 31;

/** A transaction within a block or in the pool. */
export function renderTransaction(transaction: Transaction, contractRet: string): string {
  return JSON.stringify({
    ret: [{ contractRet }],
    signature: transaction.signatures,
    txID: transaction.txid,
    raw_data: transaction.raw,
    raw_data_hex: transaction.rawHex,
  });
}

/** The start of a block's JSON, up to where its transactions would come. */
export function renderHeader(header: Header): string {
  const raw = {
    ...(header.height === 0 ? {} : { number: header.height }),
    txTrieRoot: header.txTrieRoot,
    witness_address: header.witness,
    parentHash: header.parentId,
    version: BLOCK_VERSION,
    timestamp: header.time,
  };
  const text = JSON.stringify({
    blockID: header.id,
    block_header: { raw_data: raw, witness_signature: header.witnessSignature },
  });
  return text.slice(0, -1);
}

/** A receipt (`TransactionInfo`). */
export function renderReceipt(
  transaction: Transaction,
  execution: Execution,
  header: { readonly height: number; readonly time: number },
): string {
  const call = execution.call;
  const failed = call !== null && call.result !== "SUCCESS";
  return JSON.stringify({
    id: transaction.txid,
    ...positive("fee", execution.fee),
    blockNumber: header.height,
    blockTimeStamp: header.time,
    contractResult: [call === null ? "" : call.output],
    ...(call === null ? {} : { contract_address: call.contract }),
    receipt: {
      ...(call === null ? {} : {
        ...positive("energy_usage", call.energyStaked),
        ...positive("energy_fee", call.energyBurned),
        ...positive("energy_usage_total", call.energyTotal),
      }),
      ...positive("net_usage", execution.netUsed),
      ...positive("net_fee", execution.netBurned),
      ...(call === null ? {} : { result: call.result }),
      ...positive("energy_penalty_total", call?.energyPenalty ?? 0),
    },
    ...(call === null || call.logs.length === 0 ? {} : { log: call.logs.map(renderLog) }),
    ...(failed ? { result: "FAILED", resMessage: hexOfText(call.message ?? "") } : {}),
    ...positive("packingFee", execution.netBurned + (call?.energyBurned ?? 0n)),
  });
}

/** Text as the hex that `message` fields carry. */
export function hexOfText(text: string): string {
  return new TextEncoder().encode(text).toHex();
}

function renderLog(log: { address: string; topics: readonly string[]; data: string }) {
  return {
    address: log.address,
    ...(log.topics.length === 0 ? {} : { topics: log.topics }),
    ...(log.data === "" ? {} : { data: log.data }),
  };
}

function positive(field: string, value: number | bigint): Record<string, number> {
  return value > 0 ? { [field]: Number(value) } : {};
}
