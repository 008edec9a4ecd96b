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
/** The receiver's first digits; all that differs from block to block. */
const RECEIVER_MARK = "feedfacefeed";
/** The receiver's other digits, where it was issued and where it was not. */
const ISSUED_PAD = "0";
const STRANGER_PAD = "5";

/** The lowest height that a template can carry. */
export const FIRST_HEIGHT = 5_000_000_000;
/** So many heights have ten digits, a time of thirteen and a number of eight hex digits. */
const HEIGHTS = 2 ** 31;

/** A chain on which everybody pays USDT. */
export interface BusyChain {
  /** Transfers per block. */
  readonly transfers: number;
  /** Transfers of a block that go to issued addresses. */
  readonly owned: number;
  /** Issued addresses: those of the numbers from 1 on. */
  readonly addresses: number;
  /** The token's contract, base58. */
  readonly usdt: string;
}

/** Bytes sent before and after a text, given its length. */
export type Frame = (size: number) => readonly [before: string, after: string];

/** Bytes with places to fill in. */
interface Template {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly heights: Int32Array;
  readonly times: Int32Array;
  readonly ids: Int32Array;
  readonly receivers: Int32Array;
  readonly ownBlock: Int32Array;
  readonly parentBlock: Int32Array;
}

/**
 * Makes the blocks of a busy chain. Each is written over the one before, at the places where they
 * differ: copying a text costs more than making it. Who sends several at once takes as many makers.
 */
export class BlockMaker {
  readonly #chain: BusyChain;
  readonly #body: Template;
  readonly #receipts: Template;

  private constructor(chain: BusyChain, body: Template, receipts: Template) {
    this.#chain = chain;
    this.#body = body;
    this.#receipts = receipts;
  }

  /** The first maker of a chain; what it makes stands within the frames. */
  static of(chain: BusyChain, body: Frame, receipts: Frame): BlockMaker {
    const { transfers, owned, usdt } = chain;
    const contract = addressToLogHex(usdt);
    const payer = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
    const range = Array.from({ length: transfers }, (_, n) => n);
    return new BlockMaker(
      chain,
      template(blockText(range, contract, payer), body),
      template(receiptsText(range, contract, payer, owned), receipts),
    );
  }

  /** A maker with bytes of its own. */
  another(): BlockMaker {
    return new BlockMaker(this.#chain, copyOf(this.#body), copyOf(this.#receipts));
  }

  /** A block's JSON in its frame, until the next one is made. */
  body(height: number): Uint8Array<ArrayBuffer> {
    fill(this.#body, height);
    return this.#body.bytes;
  }

  /** The JSON of its receipts in its frame, until the next ones are made. */
  receipts(height: number): Uint8Array<ArrayBuffer> {
    const { transfers, owned, addresses } = this.#chain;
    const { bytes, receivers } = this.#receipts;
    fill(this.#receipts, height);
    for (let n = 0; n < receivers.length; n++) {
      const place = (height - FIRST_HEIGHT) * transfers + n;
      // spread over the issued addresses, and over all others
      const receiver = n < owned
        ? 1 + (place * 7_919) % addresses
        : (place * 2_654_435_761) % 2 ** 48;
      putHex(bytes, receivers[n] as number, receiver);
    }
    return bytes;
  }
}

/** Puts a block's own values where they go, all but the receivers. */
function fill(into: Template, height: number): void {
  const number = height - FIRST_HEIGHT;
  if (!Number.isInteger(number) || number < 0 || number >= HEIGHTS) {
    throw new RangeError(`Cannot make a block as its height is out of range: ${height}`);
  }
  putText(into.bytes, into.heights, String(height));
  putText(into.bytes, into.times, String(timeOf(height)));
  putText(into.bytes, into.ids, number.toString(16).padStart(ID_MARK.length, "0"));
  putText(into.bytes, into.ownBlock, blockId(height));
  putText(into.bytes, into.parentBlock, blockId(height - 1));
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

function receiptsText(
  range: readonly number[],
  contract: string,
  payer: string,
  owned: number,
): string {
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
      topics: [TRANSFER, payer.padStart(64, "0"), receiverOf(n < owned).padStart(64, "0")],
      data: word(1_000_000 + n),
    }],
  })));
}

function idOf(n: number): string {
  return ID_MARK + String(n).padStart(56, "c");
}

function receiverOf(isOwned: boolean): string {
  return RECEIVER_MARK.padEnd(40, isOwned ? ISSUED_PAD : STRANGER_PAD);
}

/**
 * The issued address of a number below 2^48, as events carry it. The digits are turned around, so
 * that neighbours are far from each other in an index, as keys make them.
 */
export function issuedAddress(number: number): string {
  const digits = Array.from(number.toString(16).padStart(RECEIVER_MARK.length, "0"));
  return digits.toReversed().join("").padEnd(40, ISSUED_PAD);
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}

function template(text: string, frame: Frame): Template {
  const [before, after] = frame(text.length);
  const whole = before + text + after;
  const places = (mark: string) => {
    const found: number[] = [];
    for (let at = whole.indexOf(mark); at >= 0; at = whole.indexOf(mark, at + mark.length)) {
      found.push(at);
    }
    return Int32Array.from(found);
  };
  return {
    bytes: new TextEncoder().encode(whole),
    heights: places(HEIGHT_MARK),
    times: places(TIME_MARK),
    ids: places(ID_MARK),
    receivers: places(RECEIVER_MARK),
    ownBlock: places(OWN),
    parentBlock: places(PARENT),
  };
}

function copyOf(one: Template): Template {
  return { ...one, bytes: one.bytes.slice() };
}

/** Puts the same text in several places. */
function putText(bytes: Uint8Array, places: Int32Array, text: string): void {
  const value = new TextEncoder().encode(text);
  for (const at of places) {
    for (let i = 0; i < value.length; i++) bytes[at + i] = value[i] as number;
  }
}

const DIGITS = new TextEncoder().encode("0123456789abcdef");
/** Half of a receiver's digits, as many as shifts can reach. */
const HALF = RECEIVER_MARK.length / 2;

/** Puts a number below 2^48 as twelve hex digits, the last one first. */
function putHex(bytes: Uint8Array, at: number, value: number): void {
  let high = Math.floor(value / 16 ** HALF);
  let low = value % 16 ** HALF;
  for (let i = 0; i < HALF; i++) {
    bytes[at + i] = DIGITS[low & 15] as number;
    bytes[at + HALF + i] = DIGITS[high & 15] as number;
    high >>>= 4;
    low >>>= 4;
  }
}
