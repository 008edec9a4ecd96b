/**
 * Answers that may be long, read in pieces: of a block and its receipts a few fields are needed, and what else they have
 * is up to those who paid for its transactions or to the node. As one text a few megabytes of it would hold the thread for
 * seconds.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import { FieldPicker, type Fields, Objects } from "../../nodes/field_picker.ts";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import type { LongAnswer } from "../../nodes/node.ts";
import { Slices } from "../../nodes/slices.ts";
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
import { type ParseContext, TRANSFER_TOPIC } from "./parse_block.ts";

/** Bytes that are read as one text: the worst of them hold the thread for some ten milliseconds. */
const ONE_TEXT_BYTES = 512 * 1024;
/** Bound of reading one answer that keeps coming, milliseconds. */
const WHOLE_MS = 15_000;
/** Memory for what is of use in one answer, in bytes of its text: forty thousand transfers, far more than TRON does at once. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
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

/** The fields that a long answer is read for, and what is made of them. */
interface LongForm<T> {
  readonly parts: Objects;
  /** Takes a member of a list. @throws {ChainUnavailable} `malformed` */
  member(list: string, json: unknown): void;
  /** Shape of the text without these members, and the answer of both. */
  readonly shape: AnswerShape<T>;
}

/** Shape of an answer that may be long. */
export interface LongShape<T> extends AnswerShape<T> {
  /** Begins to read one that is. */
  begin(): LongForm<T>;
}

/** True for the shape of an answer that may be long. */
export function isLong<T>(shape: AnswerShape<T>): shape is LongShape<T> {
  return "begin" in shape;
}

/** Blocks of a range. */
export const longBlockList: LongShape<BlockListAnswer> = {
  safeParse: (json) => blockListShape.safeParse(json),
  begin: () => {
    const read = new Collected();
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
  begin: () => {
    const read = new Collected();
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
    begin: () => {
      const read = new Collected(tokens);
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
    begin: () => {
      const read = new Collected(tokens);
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
  readonly #tokens: KnownTokens;
  #kept = 0;

  constructor(tokens: KnownTokens = new Set()) {
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
    this.#keep(isKept ? SHORT_BYTES + log.data.length : COUNTED_BYTES);
    this.logs.push(isKept ? log : isTransfer ? OTHER_TRANSFER : NO_TRANSFER);
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
    if (this.#kept > MOST_KEPT_BYTES) {
      throw malformed("it has more transactions and transfers than a block can have");
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

/** Reads one answer, which may prove long. */
export class LongRead<T> implements LongAnswer {
  readonly from = ONE_TEXT_BYTES;
  readonly patience = 1;
  readonly wholeMs = WHOLE_MS;
  readonly #form: LongForm<T>;
  readonly #picker: FieldPicker;
  readonly #slices = new Slices();
  hasBegun = false;

  constructor(shape: LongShape<T>, readonly mostBytes: number) {
    const form = shape.begin();
    this.#form = form;
    this.#picker = new FieldPicker(form.parts, (list, json) => form.member(list, json));
  }

  /** Shape of the text that stands for the answer. */
  get shape(): AnswerShape<T> {
    return this.#form.shape;
  }

  begin(): Promise<void> {
    this.hasBegun = true;
    return Promise.resolve();
  }

  async take(piece: Uint8Array): Promise<void> {
    this.#picker.push(piece);
    await this.#slices.rest();
  }

  end(): string {
    return this.#picker.end();
  }
}
