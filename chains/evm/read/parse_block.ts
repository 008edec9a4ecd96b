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
import type { HeadAnswer, LogAnswer, ReceiptAnswer } from "./answers.ts";
import { EMPTY_ROOT } from "./ordered_trie.ts";
import { receiptsRoot } from "./receipts_root.ts";

/** Keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/**
 * Nothing ends a transaction that is in no block any more. A deposit, of which no money has moved, counts as
 * vanished when a day of blocks has passed without it.
 */
const VANISHED_MS = 24 * 60 * 60 * 1_000;
const WORD = /^0x[0-9a-f]{64}$/;
/** `0x`, then 12 bytes of padding before the 20 bytes of an address, as Solidity writes them. */
const ADDRESS_OFFSET = 26;
const COIN_DECIMALS = 18;

/** Transfers that are not money for the service, counted for the operator. */
export interface IgnoredTransfers {
  /** Transfer events of value 0 from a configured contract: address poisoning. */
  zeroValue: number;
  /** Transfer events from any other contract, fake tokens among them. */
  otherContract: number;
}

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
  /** Running totals, added to. */
  readonly ignored: IgnoredTransfers;
}

/** A block's place. */
export function blockRefOf({ number, hash, parentHash, timestamp }: HeadAnswer): BlockRef {
  const time = timestamp * 1_000;
  return { height: number, parentHeight: number - 1, hash, parentHash, time, tick: time };
}

/** Finds what shows that these are not all receipts of the block, or not its own; null: they are. */
function missingOf(head: HeadAnswer, receipts: readonly ReceiptAnswer[]): string | null {
  const { transactions } = head;
  if (receipts.length !== transactions.length) {
    return `${receipts.length} receipts for ${transactions.length} transactions`;
  }
  let gas = 0;
  let logs = 0;
  for (const [i, receipt] of receipts.entries()) {
    if (receipt.blockHash !== head.hash) {
      return `a receipt is of another block: ${receipt.blockHash}`;
    }
    if (receipt.transactionHash !== transactions[i]) {
      return `a receipt is not of transaction ${transactions[i]}: ${receipt.transactionHash}`;
    }
    gas += receipt.gasUsed;
    if (receipt.cumulativeGasUsed !== gas) return `gas is missing before ${transactions[i]}`;
    for (const { logIndex } of receipt.logs) {
      if (logIndex !== logs) return `log ${logs} is missing`;
      logs += 1;
    }
  }
  if (gas !== head.gasUsed) return `its receipts used ${gas} gas of ${head.gasUsed}`;
  const root = receiptsRoot(receipts);
  if (typeof root !== "string") return `it has a receipt of type ${root.unknownType}`;
  return root === head.receiptsRoot ? null : `its receipts have the root ${root}`;
}

/** True if a block has nothing whose receipts could be asked for. */
export function isEmpty({ transactions, receiptsRoot, gasUsed }: HeadAnswer): boolean {
  return transactions.length === 0 && receiptsRoot === EMPTY_ROOT && gasUsed === 0;
}

/**
 * Parses a block. It is whole only when its receipts, in the order of its transactions, have the root that
 * its header names.
 *
 * @throws {ChainUnavailable} `malformed` when a transfer in it cannot be read
 */
export function parseBlock(
  head: HeadAnswer,
  receipts: readonly ReceiptAnswer[],
  context: ParseContext,
): BlockAnswer {
  const ref = blockRefOf(head);
  const missing = missingOf(head, receipts);
  if (missing !== null) return { kind: "incomplete", height: ref.height, reason: missing };
  const transactions: IncludedTransaction[] = [];
  const transfers: Transfer[] = [];
  for (const receipt of receipts) {
    transactions.push(includedOf(receipt, context));
    if (receipt.status === 1) collectTransfers(transfers, receipt, ref.time, context);
  }
  return { kind: "block", block: { ...ref, transactions, transfers } };
}

function includedOf(receipt: ReceiptAnswer, { hotWallet }: ParseContext): IncludedTransaction {
  const success = receipt.status === 1;
  return {
    txid: receipt.transactionHash,
    success,
    // a receipt does not say why
    failure: success ? null : "REVERTED",
    fee: fromTokenUnits(BigInt(receipt.gasUsed) * receipt.effectiveGasPrice, COIN_DECIMALS),
    ...(receipt.from.toLowerCase() === hotWallet ? { byHotWallet: true } : {}),
  };
}

/** Appends the transfers of one successful transaction. */
function collectTransfers(
  into: Transfer[],
  { transactionHash: txid, logs }: ReceiptAnswer,
  time: number,
  { tokens, ignored }: ParseContext,
): void {
  for (const [logIndex, log] of logs.entries()) {
    if (log.topics[0] !== TRANSFER_TOPIC || log.topics.length !== 3) continue;
    const token = tokens.get(log.address.toLowerCase());
    if (token === undefined) {
      ignored.otherContract += 1;
      continue;
    }
    const amount = eventAmount(log, token, txid);
    if (amount === 0n) {
      ignored.zeroValue += 1;
      continue;
    }
    into.push({
      txid,
      logIndex,
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
