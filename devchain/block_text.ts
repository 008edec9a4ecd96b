/**
 * A block's JSON and the JSON list of its receipts, with where each transaction lies in them, so
 * that one transaction can be read without parsing its block.
 *
 * @module
 */

import type { Execution, ForcedFailure } from "./execute.ts";
import { type Header, renderHeader, renderReceipt, renderTransaction } from "./render.ts";
import type { BlockCommit } from "./store.ts";
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

/** The word for a transaction's outcome in its block. */
export function contractRetOf(execution: Execution): string {
  return execution.call?.result ?? "SUCCESS";
}

/** Renders a block. */
export function renderBlock(
  header: Header,
  carried: readonly CarriedOut[],
): Pick<BlockCommit, "body" | "receipts" | "included"> {
  const empty = carried.length === 0;
  const bodies = new TextList(renderHeader(header) + (empty ? "" : ',"transactions":['));
  const receipts = new TextList("[");
  const included = carried.map(({ transaction, forced, execution }) => {
    const body = bodies.add(renderTransaction(transaction, contractRetOf(execution)));
    const receipt = receipts.add(renderReceipt(transaction, execution, header));
    return {
      txid: transaction.txid,
      bodyFrom: body.from,
      bodyLength: body.length,
      receiptFrom: receipt.from,
      receiptLength: receipt.length,
      forced,
    };
  });
  return { body: bodies.finish(empty ? "}" : "]}"), receipts: receipts.finish("]"), included };
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

/** Joins JSON texts with commas and remembers where each one lies. All texts are ASCII. */
class TextList {
  readonly #parts: string[];
  #length: number;
  #first = true;

  constructor(start: string) {
    this.#parts = [start];
    this.#length = start.length;
  }

  add(text: string): { from: number; length: number } {
    if (!this.#first) {
      this.#parts.push(",");
      this.#length += 1;
    }
    this.#first = false;
    const from = this.#length;
    this.#parts.push(text);
    this.#length += text.length;
    return { from, length: text.length };
  }

  finish(end: string): Uint8Array {
    return new TextEncoder().encode(this.#parts.join("") + end);
  }
}
