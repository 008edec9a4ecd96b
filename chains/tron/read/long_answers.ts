/**
 * Answers that may be long, read in pieces: of a block and its receipts a few fields are needed, and what else they have
 * is up to those who paid for its transactions or to the node. As one text a few megabytes of it would hold the thread for
 * seconds.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import { type Fields, Objects } from "../../nodes/field_picker.ts";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import {
  accountResourceSchema,
  accountSchema,
  blockHeadSchema,
  type BlockListAnswer,
  blockListShape,
  blockOrNothingSchema,
  type FullBlockAnswer,
  fullBlockSchema,
  headOrNothingSchema,
  type LogAnswer,
  readBlock,
  readLog,
  readReceipt,
  readTransaction,
  type ReceiptAnswer,
  receiptOrNothingSchema,
  receiptSchema,
  receiptsShape,
  type TransactionAnswer,
  transactionOrNothingSchema,
  transactionSchema,
} from "./answers.ts";
import type { LongShape } from "./long_read.ts";
import { type ParseContext, TRANSFER_TOPIC } from "./parse_block.ts";

/** Bytes of a transaction of which its id, expiry and result are kept, and of a receipt without its logs. */
const SHORT_BYTES = 200;
/** Bytes of a log that is only counted. */
const COUNTED_BYTES = 8;

/** An error of java-tron comes with status 200 in the place of any answer. */
const ERROR: Fields = { Error: "value" };
const TRANSACTION: Fields = {
  txID: "value",
  raw_data: new Objects({ expiration: "value" }),
  ret: new Objects({ contractRet: "value" }),
};
const HEAD: Fields = {
  blockID: "value",
  block_header: new Objects({
    raw_data: new Objects({ number: "value", parentHash: "value", timestamp: "value" }),
  }),
};
const BLOCK: Fields = { ...HEAD, transactions: new Objects(TRANSACTION, "transactions") };
const RECEIPT: Fields = {
  id: "value",
  fee: "value",
  blockNumber: "value",
  blockTimeStamp: "value",
  receipt: new Objects({ result: "value" }),
  result: "value",
  log: new Objects({ address: "value", topics: "value", data: "value" }, "log"),
};
const ONE_BLOCK = new Objects({ ...BLOCK, ...ERROR });
const BLOCKS = new Objects({ block: new Objects(BLOCK, "block"), ...ERROR });
const ONE_RECEIPT = new Objects({ ...RECEIPT, ...ERROR });
const RECEIPTS = new Objects({ ...RECEIPT, ...ERROR }, "receipts");

/** Contracts of known tokens. */
type KnownTokens = Pick<ParseContext["tokens"], "has">;

/** Blocks of a range. */
export const longBlockList: LongShape<BlockListAnswer> = {
  safeParse: (json) => blockListShape.safeParse(json),
  begin: (mostBytes) => {
    const read = new Collected(mostBytes);
    return {
      parts: BLOCKS,
      member: (list, json) => list === "block" ? read.block(json) : read.transaction(json),
      shape: mapped(blockListShape, () => ({ block: read.blocks })),
    };
  },
};

/** One block, or null where the node does not have it. */
export const longBlock: LongShape<FullBlockAnswer | null> = {
  safeParse: (json) => blockOrNothingSchema.safeParse(json),
  begin: (mostBytes) => {
    const read = new Collected(mostBytes);
    return {
      parts: ONE_BLOCK,
      member: (_, json) => read.transaction(json),
      shape: mapped(
        blockOrNothingSchema,
        (block) => block && { ...block, transactions: read.transactions },
      ),
    };
  },
};

/** Receipts of a block. */
export function longReceipts(tokens: KnownTokens): LongShape<ReceiptAnswer[]> {
  return {
    safeParse: (json) => receiptsShape.safeParse(json),
    begin: (mostBytes) => {
      const read = new Collected(mostBytes, tokens);
      return {
        parts: RECEIPTS,
        member: (list, json) => list === "log" ? read.log(json) : read.receipt(json),
        shape: mapped(receiptsShape, () => read.receipts),
      };
    },
  };
}

/** The receipt of a transaction, or null where the node does not have it. */
export function longReceipt(tokens: KnownTokens): LongShape<ReceiptAnswer | null> {
  return {
    safeParse: (json) => receiptOrNothingSchema.safeParse(json),
    begin: (mostBytes) => {
      const read = new Collected(mostBytes, tokens);
      return {
        parts: ONE_RECEIPT,
        member: (_, json) => read.log(json),
        shape: mapped(
          receiptOrNothingSchema,
          (receipt) => receipt && { ...receipt, log: read.logs },
        ),
      };
    },
  };
}

/** Head of a block, also where the node does not leave its transactions out. */
export const longHead = fewFields(blockHeadSchema, HEAD);
/** The same, or null where the node does not have it. */
export const longHeadOrNothing = fewFields(headOrNothingSchema, HEAD);
/** A transaction, or null where the node does not have it. */
export const longTransaction = fewFields(transactionOrNothingSchema, TRANSACTION);
/** An account: it lists every token that anybody has sent it. */
export const longAccount = fewFields(accountSchema, valuesOf(accountSchema.shape));
/** Energy and bandwidth of an account; the answer lists its tokens as well. */
export const longAccountResources = fewFields(
  accountResourceSchema,
  valuesOf(accountResourceSchema.shape),
);

/** Fields that are values each. */
function valuesOf(fields: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, "value"]));
}

/** Bytes of a receipt that is kept, as they are counted while it is read. */
export function keptBytesOf({ log }: ReceiptAnswer): number {
  return log.reduce((sum, one) => sum + keptBytesOfLog(one), SHORT_BYTES);
}

function keptBytesOfLog({ address, data }: LogAnswer): number {
  return address === "" ? COUNTED_BYTES : SHORT_BYTES + data.length;
}

/** An answer of which a few fields are read, whatever else it has. */
function fewFields<T>(shape: AnswerShape<T>, fields: Fields): LongShape<T> {
  const parts = new Objects({ ...fields, ...ERROR });
  return {
    safeParse: (json) => shape.safeParse(json),
    begin: () => ({ parts, member: () => {}, shape }),
  };
}

/** Made of an answer whose text has the given shape. */
function mapped<T, Made>(shape: AnswerShape<T>, make: (rest: T) => Made): AnswerShape<Made> {
  return {
    safeParse: (json) => {
      const parsed = shape.safeParse(json);
      return parsed.success ? { success: true, data: make(parsed.data) } : parsed;
    },
  };
}

const NO_TRANSFER: LogAnswer = { address: "", topics: [], data: "" };
/** Its contract is none of the known ones. */
const OTHER_TRANSFER: LogAnswer = { address: "", topics: [TRANSFER_TOPIC, "", ""], data: "" };

/** Members that were read of one answer. */
class Collected {
  readonly blocks: FullBlockAnswer[] = [];
  readonly receipts: ReceiptAnswer[] = [];
  /** Of the block that is being read. */
  transactions: TransactionAnswer[] = [];
  /** Of the receipt that is being read. */
  logs: LogAnswer[] = [];
  readonly #mostBytes: number;
  readonly #tokens: KnownTokens;
  #kept = 0;

  constructor(mostBytes: number, tokens: KnownTokens = new Set()) {
    this.#mostBytes = mostBytes;
    this.#tokens = tokens;
  }

  transaction(json: unknown): void {
    this.#keep(SHORT_BYTES);
    this.transactions.push(readTransaction(json) ?? required(transactionSchema, json));
  }

  block(json: unknown): void {
    const block = readBlock(json) ?? required(fullBlockSchema, json);
    this.#keep(SHORT_BYTES * (1 + block.transactions.length));
    this.blocks.push({ ...block, transactions: [...this.transactions, ...block.transactions] });
    this.transactions = [];
  }

  log(json: unknown): void {
    const log = readLog(json);
    if (log === null) throw malformed("a log of it is wrong");
    this.#log(log);
  }

  #log(log: LogAnswer): void {
    const isTransfer = log.topics[0] === TRANSFER_TOPIC && log.topics.length === 3;
    const isKept = isTransfer && this.#tokens.has(log.address);
    const kept = isKept ? log : isTransfer ? OTHER_TRANSFER : NO_TRANSFER;
    this.#keep(keptBytesOfLog(kept));
    this.logs.push(kept);
  }

  receipt(json: unknown): void {
    this.#keep(SHORT_BYTES);
    const receipt = readReceipt(json) ?? required(receiptSchema, json);
    for (const log of receipt.log) this.#log(log);
    this.receipts.push({ ...receipt, log: this.logs });
    this.logs = [];
  }

  #keep(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > this.#mostBytes) {
      // no fault of its node yet: alone, there is more room for it
      throw new ChainUnavailable(
        "timeout",
        `Cannot read a long answer as what is of use in it has more than ${this.#mostBytes} bytes`,
      );
    }
  }
}

function malformed(why: string): ChainUnavailable {
  return new ChainUnavailable("malformed", `Cannot read a long answer as ${why}`);
}

/** @throws {ChainUnavailable} `malformed` where it has another shape */
function required<T>(shape: AnswerShape<T>, json: unknown): T {
  const parsed = shape.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`${issue?.path.join(".") || "a member of it"} is wrong (${issue?.message})`);
}
