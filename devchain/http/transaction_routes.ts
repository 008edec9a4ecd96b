/** Routes that read transactions and receipts. @module */

import { renderTransaction } from "../render.ts";
import type { Answer, NodeRequest, Route } from "./route.ts";
import { NOTHING, topOf } from "./route.ts";

const EMPTY_LIST: Answer = { json: [] };

/** Paths that read transactions. */
export const TRANSACTION_ROUTES: Readonly<Record<string, Route>> = {
  gettransactionbyid: { answer: transactionById, solidity: true, get: true },
  gettransactioninfobyid: { answer: receiptById, solidity: true, get: true },
  gettransactioninfobyblocknum: { answer: receiptsOfBlock, solidity: true, get: true },
  gettransactionfrompending: { answer: pendingById, solidity: false, get: true },
  gettransactionlistfrompending: {
    answer: ({ node }) => ({ json: node.pool.size === 0 ? {} : { txId: [...node.pool.keys()] } }),
    solidity: false,
    get: true,
  },
  getpendingsize: {
    answer: ({ node }) => ({ json: { pendingSize: node.pool.size } }),
    solidity: false,
    get: true,
  },
};

function transactionById(request: NodeRequest): Answer {
  const txid = request.params.hash("value");
  if (!visibleAt(request, txid)) return request.view === "head" ? pendingById(request) : NOTHING;
  const { store } = request.node;
  const block: { transactions: { txID: string }[] } = parse(store.body(store.heightOf(txid) ?? -1));
  return { json: block.transactions.find(({ txID }) => txID === txid) };
}

/** A waiting transaction, with the result it had when it was checked. */
function pendingById(request: NodeRequest): Answer {
  const pending = request.node.pool.get(request.params.hash("value"));
  if (pending === undefined) return NOTHING;
  return { json: JSON.parse(renderTransaction(pending.transaction, pending.contractRet)) };
}

function receiptById(request: NodeRequest): Answer {
  const txid = request.params.hash("value");
  if (!visibleAt(request, txid)) return NOTHING;
  if (request.fire(["lagging-receipts"]) !== null) return NOTHING;
  const { store } = request.node;
  const receipts: { id: string }[] = parse(store.receipts(store.heightOf(txid) ?? -1));
  return { json: receipts.find(({ id }) => id === txid) };
}

function receiptsOfBlock(request: NodeRequest): Answer {
  const height = request.params.int("num");
  if (height <= 0) return NOTHING;
  const { store } = request.node;
  const block = height > topOf(request) ? undefined : store.block(height);
  if (block === undefined || block.txids.length === 0) return EMPTY_LIST;
  const fault = request.fire(["lagging-receipts"]);
  const bytes = store.receipts(height);
  if (bytes === null || (fault !== null && !fault.late)) return EMPTY_LIST;
  if (fault === null) return { bytes };
  const all: unknown[] = parse(bytes);
  return { json: all.slice(0, -1) };
}

function visibleAt(request: NodeRequest, txid: string): boolean {
  const height = request.node.store.heightOf(txid);
  return height !== undefined && height <= topOf(request);
}

function parse<T>(bytes: Uint8Array | null): T {
  return JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()));
}
