/**
 * Blocks and receipts composed by hand after the public documentation of java-tron's HTTP API
 * (`getblockbynum`, `gettransactioninfobyblocknum`): its field names, hex forms and absent fields.
 * They are not recordings of a live chain.
 *
 * @module
 */

import { addressToLogHex } from "../../../chains/tron/address.ts";

/** Deposit address 0 of the mnemonic "abandon ... about". */
export const OURS = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";
/** Contract of USDT on the main network. */
export const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
/** Some exchange's wallet. */
export const PAYER = "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8";
/** Some other holder. */
export const STRANGER = "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs";
/** A contract that emits the events of USDT and is none. */
export const FAKE = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

export const HEIGHT = 66_666_666;
export const BLOCK_TIME = 1_750_000_002_000;
export const EXPIRATION = 1_750_000_057_000;

const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const APPROVAL = "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b291e5b200ac8c7c3b925b";

/** A JSON object of a node. */
export type Json = Record<string, unknown>;

/** A 32-byte word. */
export function word(value: bigint | number | string): string {
  const hex = typeof value === "string" ? value : value.toString(16);
  return hex.padStart(64, "0");
}

/** A transaction id that is easy to tell. */
export function txid(n: number): string {
  return word(n).replace(/^0{8}/, "ab".repeat(4));
}

/** Id of a block of that height. */
export function blockId(height: number): string {
  return height.toString(16).padStart(16, "0") + "5e".repeat(24);
}

/** An event log as nodes give it: the address without `41`. */
export function log(contract: string, topics: readonly string[], data: string): Json {
  return { address: addressToLogHex(contract), topics, data };
}

/** A Transfer event. */
export function transferLog(
  contract: string,
  from: string,
  to: string,
  units: bigint | number,
): Json {
  const topics = [TRANSFER, word(addressToLogHex(from)), word(addressToLogHex(to))];
  return log(contract, topics, word(units));
}

/** An Approval event: three topics as well, but another first one. */
export function approvalLog(contract: string, from: string, to: string, units: number): Json {
  const topics = [APPROVAL, word(addressToLogHex(from)), word(addressToLogHex(to))];
  return log(contract, topics, word(units));
}

/** One transaction with its receipt. */
export interface Pair {
  readonly transaction: Json;
  readonly receipt: Json;
}

/** A contract call, as it stands in a block and in the receipts. */
export function contractCall(
  n: number,
  logs: readonly Json[],
  changes: { readonly transaction?: Json; readonly receipt?: Json; readonly result?: string } = {},
): Pair {
  const { result = "SUCCESS" } = changes;
  const failed = result !== "SUCCESS";
  return {
    transaction: {
      ret: [{ contractRet: result }],
      signature: ["00".repeat(65)],
      txID: txid(n),
      raw_data: {
        contract: [{
          parameter: {
            value: {
              data: `a9059cbb${word(addressToLogHex(OURS))}${word(1)}`,
              owner_address: `41${addressToLogHex(STRANGER)}`,
              contract_address: `41${addressToLogHex(USDT)}`,
            },
            type_url: "type.googleapis.com/protocol.TriggerSmartContract",
          },
          type: "TriggerSmartContract",
        }],
        ref_block_bytes: "3b92",
        ref_block_hash: "5e5e5e5e5e5e5e5e",
        expiration: EXPIRATION,
        fee_limit: 100_000_000,
        timestamp: BLOCK_TIME - 5_000,
      },
      raw_data_hex: "0a02",
      ...changes.transaction,
    },
    receipt: {
      id: txid(n),
      fee: 13_845_000,
      blockNumber: HEIGHT,
      blockTimeStamp: BLOCK_TIME,
      // TRON's USDT returns false from transfer() although it moved the money.
      contractResult: [word(0)],
      contract_address: `41${addressToLogHex(USDT)}`,
      receipt: {
        energy_fee: 13_500_000,
        energy_usage_total: 64_285,
        net_fee: 345_000,
        result,
        energy_penalty_total: 49_675,
      },
      ...(failed ? { result: "FAILED", resMessage: "52455645525420" } : {}),
      ...(logs.length === 0 ? {} : { log: logs }),
      ...changes.receipt,
    },
  };
}

/** A transfer of TRX: its receipt has no result, and no fee when bandwidth was free. */
export function nativeTransfer(n: number): Pair {
  return {
    transaction: {
      ret: [{ contractRet: "SUCCESS" }],
      signature: ["00".repeat(65)],
      txID: txid(n),
      raw_data: {
        contract: [{
          parameter: {
            value: {
              amount: 1_000_000,
              owner_address: `41${addressToLogHex(PAYER)}`,
              to_address: `41${addressToLogHex(OURS)}`,
            },
            type_url: "type.googleapis.com/protocol.TransferContract",
          },
          type: "TransferContract",
        }],
        ref_block_bytes: "3b92",
        ref_block_hash: "5e5e5e5e5e5e5e5e",
        expiration: EXPIRATION,
        timestamp: BLOCK_TIME - 5_000,
      },
      raw_data_hex: "0a02",
    },
    receipt: {
      id: txid(n),
      blockNumber: HEIGHT,
      blockTimeStamp: BLOCK_TIME,
      contractResult: [""],
      receipt: { net_usage: 267 },
    },
  };
}

/** A block; `transactions` is absent when there are none. */
export function block(pairs: readonly Pair[], height = HEIGHT): Json {
  return {
    blockID: blockId(height),
    block_header: {
      raw_data: {
        number: height,
        txTrieRoot: word(7),
        witness_address: `41${addressToLogHex(PAYER)}`,
        parentHash: blockId(height - 1),
        version: 31,
        timestamp: BLOCK_TIME,
      },
      witness_signature: "00".repeat(65),
    },
    ...(pairs.length === 0 ? {} : { transactions: pairs.map((pair) => pair.transaction) }),
  };
}

/** The receipts of a block. */
export function receipts(pairs: readonly Pair[]): Json[] {
  return pairs.map((pair) => pair.receipt);
}
