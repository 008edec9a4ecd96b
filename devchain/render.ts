/**
 * The node's JSON for blocks, transactions and receipts, fields in hex and absent where zero, as
 * java-tron prints them. Rendered once when a block is made, then served as bytes.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";
import type { Execution, ForcedFailure } from "./execute.ts";
import { assemble, type Transaction } from "./transaction.ts";

/** A transaction on its way into a block. */
export interface Waiting {
  readonly transaction: Transaction;
  /** The failure a fault imposes on its contract call. */
  readonly forced: ForcedFailure | null;
}

/** A transaction that a block carries. */
export interface CarriedOut extends Waiting {
  readonly execution: Execution;
}

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

/** The word for a transaction's outcome in its block. */
export function contractRetOf(execution: Execution): string {
  return execution.call?.result ?? "SUCCESS";
}

/** A block's JSON and the JSON list of its receipts. */
export function renderBlock(
  header: Header,
  carried: readonly CarriedOut[],
): { readonly body: string; readonly receipts: string } {
  const list = (render: (one: CarriedOut) => string) => `[${carried.map(render).join(",")}]`;
  const transactions = carried.length === 0
    ? ""
    : `,"transactions":${
      list(({ transaction, execution }) => renderTransaction(transaction, contractRetOf(execution)))
    }`;
  return {
    body: `${renderHeader(header)}${transactions}}`,
    receipts: list(({ transaction, execution }) => renderReceipt(transaction, execution, header)),
  };
}

/**
 * Reads a block's transactions back from its JSON.
 *
 * @param forced the transactions that a fault made fail
 */
export function readTransactions(
  body: string,
  forced: ReadonlyMap<string, ForcedFailure>,
): Waiting[] {
  const block: { transactions?: { raw_data_hex: string; signature: string[] }[] } = JSON.parse(
    body,
  );
  return (block.transactions ?? []).map(({ raw_data_hex, signature }) => {
    const transaction = assemble(Uint8Array.fromHex(raw_data_hex), signature);
    return { transaction, forced: forced.get(transaction.txid) ?? null };
  });
}

/** The start of a block's JSON, up to its transactions. */
function renderHeader(header: Header): string {
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
function renderReceipt(
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
