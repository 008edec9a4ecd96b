/**
 * Turns a node's block and receipts into the port's {@linkcode Block}, or says why it is not
 * complete.
 *
 * Credit rule: the receipt says success, the log comes from a configured contract, its first topic
 * is `Transfer(address,address,uint256)`, it has three topics, and the value is above zero. The
 * sender is topic 1 (never the transaction's owner), the amount is the event's (a contract may
 * keep a fee), and the bool that `transfer` returns means nothing: TRON's USDT returns false.
 *
 * @module
 */

import { type Amount, fromUnits } from "../../../ledger/money/amount.ts";
import type { Currency } from "../../../ledger/money/pair.ts";
import {
  type BlockAnswer,
  type BlockRef,
  ChainUnavailable,
  type FoundTransaction,
  type IncludedTransaction,
  type Transfer,
} from "../../chain.ts";
import { areDistinct } from "../../text_key.ts";
import { sunAmount } from "../token_contracts.ts";
import type {
  BlockHeadAnswer,
  FullBlockAnswer,
  LogAnswer,
  ReceiptAnswer,
  TransactionAnswer,
} from "./answers.ts";

/** Keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const SUN = sunAmount(1);
/** The longest a transaction may wait, after java-tron: 24 hours past the block. */
const MAX_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Looking for what does not belong takes half the time of matching all that does. */
const NOT_HEX = /[^0-9a-f]/;
const WORD_DIGITS = 64;
/** So many digits are an exact double. */
const EXACT_DIGITS = 13;
const LEADING_ZEROS = "0".repeat(WORD_DIGITS - EXACT_DIGITS);
/** An address in a topic: 12 bytes of padding, then 20 bytes. Padding is not checked by the EVM. */
const ADDRESS_OFFSET = 24;

/** A token that counts as money. */
export interface Token {
  readonly currency: Currency;
  /** Value of one of the contract's units. */
  readonly unit: Amount;
}

/** The configuration that parsing needs. */
export interface ParseContext {
  /** Tokens by contract, 40 lower-case hex digits as logs carry it. */
  readonly tokens: ReadonlyMap<string, Token>;
  /** A block may be so much ahead of the clock, milliseconds; default that of a chain whose time never leaps. */
  readonly mostAheadMs?: number;
}

/** An answer that contradicts itself; nothing may be concluded from it. */
function contradiction(what: string, value: string): ChainUnavailable {
  return new ChainUnavailable("malformed", `Cannot read from the chain as ${what}: ${value}`);
}

/**
 * A block's place, checked against its own id, whose first 8 bytes are its height.
 *
 * @throws {ChainUnavailable} when id and height disagree
 */
export function blockRefOf(answer: BlockHeadAnswer): BlockRef {
  const { number, parentHash, timestamp } = answer.block_header.raw_data;
  if (Number.parseInt(answer.blockID.slice(0, 16), 16) !== number) {
    throw contradiction("its id is not of its height", `${number} ${answer.blockID}`);
  }
  return {
    height: number,
    parentHeight: number - 1,
    hash: answer.blockID,
    parentHash,
    time: timestamp,
    tick: timestamp,
  };
}

/**
 * True if a transaction did what it says.
 *
 * Contract calls carry a result in the block and in the receipt, native transfers only in the
 * block. Both must agree: calling a paid transaction failed would pay it twice.
 *
 * @returns the chain's word for the failure, or `null` on success
 */
function failureOf(transaction: TransactionAnswer, receipt: ReceiptAnswer): string | null {
  const inBlock = transaction.ret?.[0]?.contractRet;
  const inReceipt = receipt.receipt.result;
  if (inBlock !== undefined && inReceipt !== undefined && inBlock !== inReceipt) {
    throw contradiction(
      `block (${inBlock}) and receipt (${inReceipt}) disagree on a transaction's result`,
      receipt.id,
    );
  }
  const word = inReceipt ?? inBlock;
  const failed = receipt.result === "FAILED";
  if (word === undefined) {
    if (failed) return "FAILED";
    throw contradiction("a transaction has no result", receipt.id);
  }
  if (word === "SUCCESS") {
    if (failed) throw contradiction("a receipt says both SUCCESS and FAILED", receipt.id);
    return null;
  }
  return word;
}

function isWord(hex: string): boolean {
  return hex.length === WORD_DIGITS && !NOT_HEX.test(hex);
}

/** A 32-byte word; nearly all of them are small, which is faster to read and to check. */
function wordOf(hex: string, txid: string): bigint {
  // a number may be read with white space at its end, a word may not
  if (hex.length === WORD_DIGITS && hex.startsWith(LEADING_ZEROS) && hex.trimEnd() === hex) {
    const small = Number(`0x${hex.slice(-EXACT_DIGITS)}`);
    if (!Number.isNaN(small)) return BigInt(small);
  }
  if (!isWord(hex)) throw contradiction("a Transfer event has no amount", txid);
  return BigInt(`0x${hex}`);
}

/** The amount of a Transfer event. Any: one that no books can hold is quarantined where it is recorded, and holds no other. */
function eventAmount(log: LogAnswer, { unit }: Token, txid: string): Amount {
  return fromUnits(wordOf(log.data, txid) * unit);
}

/** The address in a topic, 40 hex digits. */
function topicHex(topic: string | undefined, txid: string): string {
  if (topic === undefined || !isWord(topic)) {
    throw contradiction("a Transfer event has a malformed topic", txid);
  }
  return topic.slice(ADDRESS_OFFSET);
}

/** Appends the transfers of one successful transaction. */
function collectTransfers(
  into: Transfer[],
  receipt: ReceiptAnswer,
  expiresAt: number,
  context: ParseContext,
): void {
  for (let logIndex = 0; logIndex < receipt.log.length; logIndex++) {
    const log = receipt.log[logIndex] as LogAnswer;
    if (log.topics[0] !== TRANSFER_TOPIC || log.topics.length !== 3) continue;
    const token = context.tokens.get(log.address);
    if (token === undefined) continue;
    const amount = eventAmount(log, token, receipt.id);
    // address poisoning
    if (amount === 0n) continue;
    into.push({
      txid: receipt.id,
      logIndex,
      currency: token.currency,
      eventFrom: topicHex(log.topics[1], receipt.id),
      eventTo: topicHex(log.topics[2], receipt.id),
      amount,
      // a tick is block time here
      diesAfter: expiresAt,
      expiresAt,
    });
  }
}

/** Receipts in the order of the transactions, or why they are not those of this block. */
function matchReceipts(
  ref: BlockRef,
  transactions: readonly TransactionAnswer[],
  receipts: readonly ReceiptAnswer[],
): readonly ReceiptAnswer[] | string {
  if (receipts.length !== transactions.length) {
    return `${receipts.length} receipts for ${transactions.length} transactions`;
  }
  // nodes give both lists in one order, which is compared without a look-up
  let inOrder = true;
  for (let i = 0; i < receipts.length; i++) {
    const receipt = receipts[i] as ReceiptAnswer;
    if (receipt.blockNumber !== ref.height || receipt.blockTimeStamp !== ref.time) {
      return `receipt of another block: ${receipt.id}`;
    }
    inOrder &&= receipt.id === transactions[i]?.txID;
  }
  if (!areDistinct(receipts.map(({ id }) => id))) return "a receipt is there twice";
  if (inOrder) return receipts;
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  const seen = new Set<string>();
  const ordered: ReceiptAnswer[] = [];
  for (const { txID } of transactions) {
    const receipt = byId.get(txID);
    if (receipt === undefined) return `no receipt of ${txID}`;
    seen.add(txID);
    ordered.push(receipt);
  }
  return seen.size === transactions.length ? ordered : "a transaction is there twice";
}

/**
 * Parses a block. It is whole only when receipts and transactions are equal as sets of ids: a node
 * that lags answers an empty or short list of receipts.
 *
 * @throws {ChainUnavailable} `malformed` when the answer contradicts itself
 */
export function parseBlock(
  answer: FullBlockAnswer,
  receipts: readonly ReceiptAnswer[],
  context: ParseContext,
): BlockAnswer {
  const ref = blockRefOf(answer);
  const matched = matchReceipts(ref, answer.transactions, receipts);
  if (typeof matched === "string") {
    return { kind: "incomplete", height: ref.height, reason: matched };
  }
  const transactions: IncludedTransaction[] = [];
  const transfers: Transfer[] = [];
  answer.transactions.forEach((transaction, i) => {
    const receipt = matched[i] as ReceiptAnswer;
    transactions.push(parseIncluded(transfers, transaction, receipt, context));
  });
  return { kind: "block", block: { ...ref, transactions, transfers } };
}

/** One transaction of a block; its transfers are appended. */
function parseIncluded(
  into: Transfer[],
  transaction: TransactionAnswer,
  receipt: ReceiptAnswer,
  context: ParseContext,
): IncludedTransaction {
  const failure = failureOf(transaction, receipt);
  if (failure === null) {
    const expiresAt = transaction.raw_data.expiration ?? receipt.blockTimeStamp + MAX_LIFETIME_MS;
    collectTransfers(into, receipt, expiresAt, context);
  }
  return {
    txid: transaction.txID,
    success: failure === null,
    failure,
    fee: fromUnits(BigInt(receipt.fee) * SUN),
  };
}

/**
 * Parses one transaction with its receipt, by the rules of {@linkcode parseBlock}.
 *
 * @throws {ChainUnavailable} `malformed` when they are of different transactions, or contradict
 *   each other
 */
export function parseTransaction(
  transaction: TransactionAnswer,
  receipt: ReceiptAnswer,
  context: ParseContext,
): FoundTransaction {
  if (receipt.id !== transaction.txID) {
    throw contradiction(`a receipt is of another transaction than ${transaction.txID}`, receipt.id);
  }
  const transfers: Transfer[] = [];
  const included = parseIncluded(transfers, transaction, receipt, context);
  return { ...included, height: receipt.blockNumber, time: receipt.blockTimeStamp, transfers };
}
