/**
 * Turns a block's head and its receipts into the port's {@linkcode Block}, or says why they are not all of
 * it.
 *
 * Credit rule: the receipt says success, the log comes from a configured contract, its first topic
 * is `Transfer(address,address,uint256)`, it has three topics, and the value is above zero. The
 * sender is topic 1 (never the transaction's), the amount is the event's (a contract may keep a fee,
 * which is an event of its own), and what `transfer` returns means nothing: USDT returns nothing.
 *
 * @module
 */

import { type Amount, fromTokenUnits, fromUnits } from "../../../ledger/money/amount.ts";
import type { Currency } from "../../../ledger/money/pair.ts";
import {
  type BlockAnswer,
  type BlockRef,
  ChainUnavailable,
  type IncludedTransaction,
  type Transfer,
} from "../../chain.ts";
import { Slices } from "../../nodes/slices.ts";
import { areDistinct } from "../../text_key.ts";
import type { HeadAnswer, LogAnswer } from "./answers.ts";
import { EMPTY_ROOT } from "./ordered_trie.ts";
import type { ReadReceipt } from "./receipt_logs.ts";
import { receiptsRoot, receiptsRootInSlices, unknownTypes } from "./receipts_root.ts";

/**
 * Nothing ends a transaction that is in no block any more. A deposit, of which no money has moved, counts as
 * vanished when a day of blocks has passed without it.
 */
const VANISHED_MS = 24 * 60 * 60 * 1_000;
const WORD = /^0x[0-9a-f]{64}$/;
/** `0x`, then 12 bytes of padding before the 20 bytes of an address, as Solidity writes them. */
const ADDRESS_OFFSET = 26;
const COIN_DECIMALS = 18;
/** Wei of a thousand million coins: there is less of each chain's coin, so that no transaction has paid as much. */
const MOST_WEI = 10n ** 27n;

/** A token that counts as money. */
export interface Token {
  readonly currency: Currency;
  /** Value of one of the contract's units. */
  readonly unit: Amount;
}

/** The configuration that parsing needs. */
export interface ParseContext {
  /** Tokens by contract, `0x` and 40 lower-case digits. */
  readonly tokens: ReadonlyMap<string, Token>;
  /** The hot wallet, `0x` and 40 lower-case digits. */
  readonly hotWallet: string;
  /**
   * Types of transactions whose receipts an operator believes without their root, as their layout is not known here; none
   * where it is absent. The type is the node's word, so that with it any block is: a node that names it for another's receipts can
   * then leave out or add what it likes, below the amount that a second node has to prove. Without it the root alone decides.
   */
  readonly believed?: ReadonlySet<number>;
  /** A block may be so much ahead of the clock, milliseconds; default that of a chain whose time never leaps. */
  readonly mostAheadMs?: number;
}

/** A block's place. */
export function blockRefOf({ number, hash, parentHash, timestamp }: HeadAnswer): BlockRef {
  const time = timestamp * 1_000;
  return { height: number, parentHeight: number - 1, hash, parentHash, time, tick: time };
}

/** Finds what shows that these are not all receipts of the block, or not its own; null: nothing but their root can. */
function missingOf(head: HeadAnswer, receipts: readonly ReadReceipt[]): string | null {
  const { transactions } = head;
  if (receipts.length !== transactions.length) {
    return `${receipts.length} receipts for ${transactions.length} transactions`;
  }
  // no root has the ids, which name what is paid and credited: of two that are alike one is another transaction's
  if (!areDistinct(transactions)) return "a transaction is there twice";
  let gas = 0;
  let logs = 0;
  for (const [i, receipt] of receipts.entries()) {
    if (receipt.blockHash !== head.hash) {
      return `a receipt is of another block: ${receipt.blockHash}`;
    }
    if (receipt.transactionHash !== transactions[i]) {
      return `a receipt is not of transaction ${transactions[i]}: ${receipt.transactionHash}`;
    }
    if (receipt.status === null && receipt.root === undefined) {
      return `a receipt says neither how it ended nor its state: ${receipt.transactionHash}`;
    }
    gas += receipt.gasUsed;
    if (receipt.cumulativeGasUsed !== gas) return `gas is missing before ${transactions[i]}`;
    // no root has the price; any that can be paid is believed, as some pay for their place far beyond what others do
    const { effectiveGasPrice: price } = receipt;
    if (price < head.baseFeePerGas || BigInt(receipt.gasUsed) * price > MOST_WEI) {
      return `a price cannot have been paid by ${transactions[i]}: ${price}`;
    }
    const { count, first, missing } = receipt.logs;
    if (count > 0 && first !== logs) return `log ${logs} is missing`;
    if (missing !== null) return `log ${missing} is missing`;
    logs += count;
  }
  return gas === head.gasUsed ? null : `its receipts used ${gas} gas of ${head.gasUsed}`;
}

/** True if a block has nothing whose receipts could be asked for. */
export function isEmpty({ transactions, receiptsRoot, gasUsed }: HeadAnswer): boolean {
  return transactions.length === 0 && receiptsRoot === EMPTY_ROOT && gasUsed === 0;
}

/** Receipts of a block up to which their root is made in one go. */
const RECEIPTS_AT_ONCE = 1_000;
/** Bytes of logs in all of them up to which it is. */
const BYTES_AT_ONCE = 256 * 1024;

/** True for receipts whose root would hold the thread if it was made in one go. */
function areMany(receipts: readonly ReadReceipt[]): boolean {
  const bytes = receipts.reduce((sum, { logs }) => sum + logs.encoded.length, 0);
  return receipts.length > RECEIPTS_AT_ONCE || bytes > BYTES_AT_ONCE;
}

/**
 * Parses a block. It is whole only when its receipts, in the order of its transactions, have the root that
 * its header names.
 *
 * @throws {ChainUnavailable} `malformed` when a transfer in it cannot be read
 */
export function parseBlock(
  head: HeadAnswer,
  receipts: readonly ReadReceipt[],
  context: ParseContext,
): BlockAnswer {
  const missing = missingOf(head, receipts);
  if (missing !== null) return { kind: "incomplete", height: head.number, reason: missing };
  return provenBlock(head, receipts, receiptsRoot(receipts), context);
}

/** The same of a block that may have any number of receipts and logs. */
export async function parseLongBlock(
  head: HeadAnswer,
  receipts: readonly ReadReceipt[],
  context: ParseContext,
): Promise<BlockAnswer> {
  if (!areMany(receipts)) return parseBlock(head, receipts, context);
  const missing = missingOf(head, receipts);
  if (missing !== null) return { kind: "incomplete", height: head.number, reason: missing };
  return provenBlock(head, receipts, await receiptsRootInSlices(receipts, new Slices()), context);
}

function provenBlock(
  head: HeadAnswer,
  receipts: readonly ReadReceipt[],
  root: string,
  context: ParseContext,
): BlockAnswer {
  const types = root === head.receiptsRoot ? [] : unknownTypes(receipts);
  const areBelieved = types.length > 0 && types.every((type) => context.believed?.has(type));
  if (root !== head.receiptsRoot && !areBelieved) {
    const unknown = types.length === 0
      ? ""
      : `; it has transactions of type ${types.join(" and ")}, whose receipts are not known here ` +
        "(RECEIPT_TYPES)";
    return {
      kind: "incomplete",
      height: head.number,
      reason: `its receipts have the root ${root}${unknown}`,
    };
  }
  const ref = blockRefOf(head);
  const transactions: IncludedTransaction[] = [];
  const transfers: Transfer[] = [];
  for (const receipt of receipts) {
    transactions.push(includedOf(receipt, head.baseFeePerGas, context));
    if (receipt.status === 1) collectTransfers(transfers, receipt, ref.time, context);
  }
  const isBound = head.isBound && !areBelieved;
  const block = {
    ...ref,
    transactions,
    transfers,
    ...(isBound ? {} : { isUnbound: true as const }),
  };
  return { kind: "block", block };
}

/** The word for a failure; a receipt does not say why. Before Byzantium it does not even say that. */
function failureOf({ status }: ReadReceipt): string | null {
  if (status === null) return "UNTOLD_BEFORE_BYZANTIUM";
  return status === 1 ? null : "REVERTED";
}

function includedOf(
  receipt: ReadReceipt,
  base: bigint,
  { hotWallet }: ParseContext,
): IncludedTransaction {
  const success = receipt.status === 1;
  return {
    txid: receipt.transactionHash,
    success,
    failure: failureOf(receipt),
    fee: fromTokenUnits(BigInt(receipt.gasUsed) * receipt.effectiveGasPrice, COIN_DECIMALS),
    charged: { units: receipt.gasUsed, base },
    ...(receipt.from.toLowerCase() === hotWallet ? { byHotWallet: true } : {}),
  };
}

/** Appends the transfers of one successful transaction. */
function collectTransfers(
  into: Transfer[],
  { transactionHash: txid, logs }: ReadReceipt,
  time: number,
  { tokens }: ParseContext,
): void {
  for (const { place: logIndex, log } of logs.transfers) {
    const token = tokens.get(log.address.toLowerCase());
    if (token === undefined) continue;
    const amount = eventAmount(log, token, txid);
    // address poisoning
    if (amount === 0n) continue;
    into.push({
      txid,
      logIndex,
      blockLog: logs.first + logIndex,
      currency: token.currency,
      eventFrom: topicAddress(log.topics[1], txid),
      eventTo: topicAddress(log.topics[2], txid),
      amount,
      diesAfter: time + VANISHED_MS,
      expiresAt: time + VANISHED_MS,
    });
  }
}

/** An answer of which nothing may be concluded. */
function unreadable(what: string, txid: string): ChainUnavailable {
  return new ChainUnavailable("malformed", `Cannot read from the chain as ${what}: ${txid}`);
}

/** The amount of a Transfer event. Any: one that no books can hold is quarantined where it is recorded. */
function eventAmount({ data }: LogAnswer, { unit }: Token, txid: string): Amount {
  if (!WORD.test(data)) throw unreadable("a Transfer event has no amount", txid);
  return fromUnits(BigInt(data) * unit);
}

/** The address in a topic, as events carry it; its padding is not checked by the machine. */
function topicAddress(topic: string | undefined, txid: string): string {
  if (topic === undefined || !WORD.test(topic)) {
    throw unreadable("a Transfer event has a malformed topic", txid);
  }
  return topic.slice(ADDRESS_OFFSET);
}
