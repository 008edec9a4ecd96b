/**
 * The logs of a receipt in the form in which they are needed: as bytes, for the root of receipts, and of them the
 * transfers of known tokens. The others, of which a block can have hundreds of thousands, are not kept.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import type { CutMembers } from "../../nodes/list_cutter.ts";
import { type LogAnswer, readLog, type ReceiptAnswer } from "./answers.ts";
import { RlpWriter } from "./rlp_writer.ts";

/** Keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Far above what gas can pay for in a block: an eighth of a unit's worth of bytes each. */
const MOST_BYTES = 128 * 1024 * 1024;
const FIRST_SIZE = 4 * 1024;
const NOTHING = new Uint8Array(0);

const writer = new RlpWriter();

/** A log, and its place in its receipt. */
export interface PlacedLog {
  readonly place: number;
  readonly log: LogAnswer;
}

/** The logs of one receipt. */
export interface ReceiptLogs {
  readonly count: number;
  /** Position of the first one among all logs of its block. */
  readonly first: number;
  /** The first position that is left out between them; null: none is. */
  readonly missing: number | null;
  /** The RLP of each, one after the other. */
  readonly encoded: Uint8Array;
  /** Transfers of known tokens. */
  readonly transfers: readonly PlacedLog[];
}

/** A receipt whose logs were read so. */
export interface ReadReceipt extends Omit<ReceiptAnswer, "logs"> {
  readonly logs: ReceiptLogs;
}

/** The contracts of known tokens, `0x` and 40 lower-case digits. */
export type KnownTokens = Pick<ReadonlyMap<string, unknown>, "has">;

/** Collects what is kept of the logs of one receipt. */
class LogCollector {
  readonly #tokens: KnownTokens;
  readonly transfers: PlacedLog[] = [];
  count = 0;
  first = 0;
  missing: number | null = null;

  constructor(tokens: KnownTokens) {
    this.#tokens = tokens;
  }

  add(log: LogAnswer): void {
    if (this.count === 0) this.first = log.logIndex;
    const position = this.first + this.count;
    if (log.logIndex !== position) this.missing ??= position;
    if (isTransfer(log) && this.#tokens.has(log.address.toLowerCase())) {
      this.transfers.push({ place: this.count, log });
    }
    this.count += 1;
  }

  logs(encoded: Uint8Array): ReceiptLogs {
    const { count, first, missing, transfers } = this;
    return { count, first, missing, encoded, transfers };
  }
}

function isTransfer({ topics }: LogAnswer): boolean {
  return topics[0] === TRANSFER_TOPIC && topics.length === 3;
}

/** Writes one log before what is written. */
function writeLog({ address, topics, data }: LogAnswer): void {
  const end = writer.size;
  writer.hex(data);
  const topicsEnd = writer.size;
  for (let i = topics.length - 1; i >= 0; i--) writer.hex(topics[i] as string);
  writer.list(topicsEnd);
  writer.hex(address);
  writer.list(end);
}

/** A receipt with its logs read. */
export function withReadLogs(receipt: ReceiptAnswer, tokens: KnownTokens): ReadReceipt {
  const collector = new LogCollector(tokens);
  for (const log of receipt.logs) collector.add(log);
  writer.reset();
  for (let i = receipt.logs.length - 1; i >= 0; i--) writeLog(receipt.logs[i] as LogAnswer);
  return { ...receipt, logs: collector.logs(writer.bytes()) };
}

/** Reads the logs of an answer that comes in pieces, list by list. */
export class LogLists implements CutMembers {
  /** The lists by their numbers. */
  readonly lists: ReceiptLogs[] = [];
  readonly #tokens: KnownTokens;
  #collector: LogCollector;
  #buffer = new Uint8Array(FIRST_SIZE);
  #size = 0;
  #total = 0;

  constructor(tokens: KnownTokens) {
    this.#tokens = tokens;
    this.#collector = new LogCollector(tokens);
  }

  /** See {@linkcode CutMembers}. @throws {ChainUnavailable} `malformed` for what is no log, or for too many */
  member(json: unknown): void {
    const log = readLog(json);
    if (log === null) {
      throw new ChainUnavailable("malformed", "Cannot read a long answer as a log of it is wrong");
    }
    this.#collector.add(log);
    writer.reset();
    writeLog(log);
    this.#append(writer.bytes());
  }

  /** See {@linkcode CutMembers}. */
  end(): number {
    this.lists.push(this.#collector.logs(this.#take()));
    this.#collector = new LogCollector(this.#tokens);
    return this.lists.length - 1;
  }

  /** The bytes of the present list. A short list is copied, as it would hold the whole buffer; a buffer that grew is given away. */
  #take(): Uint8Array {
    const size = this.#size;
    this.#size = 0;
    if (size === 0) return NOTHING;
    if (this.#buffer.length === FIRST_SIZE) return this.#buffer.slice(0, size);
    const bytes = this.#buffer.subarray(0, size);
    this.#buffer = new Uint8Array(FIRST_SIZE);
    return bytes;
  }

  #append(bytes: Uint8Array): void {
    const size = this.#size + bytes.length;
    this.#total += bytes.length;
    if (this.#total > MOST_BYTES) {
      throw new ChainUnavailable(
        "malformed",
        `Cannot read a long answer as its logs have more than ${MOST_BYTES} bytes`,
      );
    }
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#size));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#size);
    this.#size = size;
  }
}
