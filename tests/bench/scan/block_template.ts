/**
 * The text of a busy block and of its receipts, as a TRON node gives them, with the places where
 * one block differs from the next. Shapes after the public documentation of java-tron's HTTP API;
 * sizes are those of real USDT transfers.
 *
 * @module
 */

import { addressToLogHex } from "../../../chains/tron/address.ts";

const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Text that stands where a block's own value goes; as long as that value. */
const HEIGHT_MARK = "5111111111";
const TIME_MARK = "1611111111111";
/** First eight digits of every id; the block's number takes their place. */
const ID_MARK = "deadc0de";
/** The receiver's last 16 digits: block and place in it. */
const RECEIVER_MARK = "feedfacefeedface";

/** The lowest height that a template can carry, and the highest: all have ten digits. */
export const FIRST_HEIGHT = 5_000_000_000;

/** Bytes with places to fill in. */
interface Template {
  readonly bytes: Uint8Array;
  readonly heights: readonly number[];
  readonly times: readonly number[];
  readonly ids: readonly number[];
  readonly receivers: readonly number[];
}

/** Makes the blocks of a chain on which everybody pays USDT. */
export class BlockMaker {
  readonly #body: Template;
  readonly #receipts: Template;

  /**
   * @param transfers how many each block has
   * @param usdt contract, base58
   * @param receiverOf the receiver of the n-th transfer of a block, 40 hex digits
   */
  constructor(
    readonly transfers: number,
    usdt: string,
    readonly receiverOf: (height: number, n: number) => string,
  ) {
    const contract = addressToLogHex(usdt);
    const payer = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
    const range = Array.from({ length: transfers }, (_, n) => n);
    this.#body = template(blockText(range, contract, payer));
    this.#receipts = template(receiptsText(range, contract, payer));
  }

  /** A block's JSON. */
  body(height: number): Uint8Array<ArrayBuffer> {
    return this.#fill(this.#body, height);
  }

  /** The JSON of its receipts. */
  receipts(height: number): Uint8Array<ArrayBuffer> {
    return this.#fill(this.#receipts, height);
  }

  #fill(from: Template, height: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(from.bytes);
    for (const at of from.heights) putText(bytes, at, String(height));
    const time = String(timeOf(height));
    for (const at of from.times) putText(bytes, at, time);
    const id = idMark(height);
    for (const at of from.ids) putText(bytes, at, id);
    from.receivers.forEach((at, n) => putText(bytes, at, this.receiverOf(height, n)));
    if (from === this.#body) {
      const place = blockIds(from.bytes);
      putText(bytes, place.own, blockId(height));
      putText(bytes, place.parent, blockId(height - 1));
    }
    return bytes;
  }
}

/** Time of a block, Unix milliseconds: three seconds apart and in the past. */
export function timeOf(height: number): number {
  return 1_600_000_000_000 + (height - FIRST_HEIGHT) * 3_000;
}

/** Id of a block. */
export function blockId(height: number): string {
  return height.toString(16).padStart(16, "0") + "5e".repeat(24);
}

/** A block without transactions, for the question of the newest one. */
export function headText(height: number): string {
  return JSON.stringify({
    blockID: blockId(height),
    block_header: {
      raw_data: {
        number: height,
        txTrieRoot: "ab".repeat(32),
        witness_address: "41a614f803b6fd780986a42c78ec9c7f77e6ded13c",
        parentHash: blockId(height - 1),
        version: 31,
        timestamp: timeOf(height),
      },
      witness_signature: "00".repeat(65),
    },
  });
}

const OWN = "11".repeat(32);
const PARENT = "22".repeat(32);

function blockText(range: readonly number[], contract: string, payer: string): string {
  return JSON.stringify({
    blockID: OWN,
    block_header: {
      raw_data: {
        number: Number(HEIGHT_MARK),
        txTrieRoot: "ab".repeat(32),
        witness_address: `41${payer}`,
        parentHash: PARENT,
        version: 31,
        timestamp: Number(TIME_MARK),
      },
      witness_signature: "00".repeat(65),
    },
    transactions: range.map((n) => ({
      ret: [{ contractRet: "SUCCESS" }],
      signature: ["5a".repeat(65)],
      txID: idOf(n),
      raw_data: {
        contract: [{
          parameter: {
            value: {
              data: `a9059cbb${"0".repeat(24)}${"b".repeat(40)}${word(1_000_000 + n)}`,
              owner_address: `41${payer}`,
              contract_address: `41${contract}`,
            },
            type_url: "type.googleapis.com/protocol.TriggerSmartContract",
          },
          type: "TriggerSmartContract",
        }],
        ref_block_bytes: "3b92",
        ref_block_hash: "5e5e5e5e5e5e5e5e",
        expiration: Number(TIME_MARK),
        fee_limit: 100_000_000,
        timestamp: 1_600_000_000_000,
      },
      raw_data_hex: "0a".repeat(211),
    })),
  });
}

function receiptsText(range: readonly number[], contract: string, payer: string): string {
  return JSON.stringify(range.map((n) => ({
    id: idOf(n),
    fee: 13_845_000,
    blockNumber: Number(HEIGHT_MARK),
    blockTimeStamp: Number(TIME_MARK),
    contractResult: [word(0)],
    contract_address: `41${contract}`,
    receipt: {
      energy_fee: 13_500_000,
      energy_usage_total: 64_285,
      net_fee: 345_000,
      result: "SUCCESS",
      energy_penalty_total: 49_675,
    },
    log: [{
      address: contract,
      topics: [TRANSFER, payer.padStart(64, "0"), RECEIVER_MARK.padStart(64, "0")],
      data: word(1_000_000 + n),
    }],
  })));
}

function idOf(n: number): string {
  return ID_MARK + String(n).padStart(56, "c");
}

function idMark(height: number): string {
  return (height - FIRST_HEIGHT).toString(16).padStart(8, "0");
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}

function template(text: string): Template {
  const places = (mark: string, before = 0) => {
    const found: number[] = [];
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
      found.push(at - before);
    }
    return found;
  };
  return {
    bytes: new TextEncoder().encode(text),
    heights: places(HEIGHT_MARK),
    times: places(TIME_MARK),
    ids: places(ID_MARK),
    // the whole address is filled in: 24 digits more than the mark
    receivers: places(RECEIVER_MARK, 24),
  };
}

function blockIds(bytes: Uint8Array): { own: number; parent: number } {
  const text = new TextDecoder().decode(bytes.subarray(0, 1_000));
  return { own: text.indexOf(OWN), parent: text.indexOf(PARENT) };
}

function putText(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}
