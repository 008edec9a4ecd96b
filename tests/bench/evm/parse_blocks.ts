/**
 * Reading of blocks from their JSON to their transfers, with the proof of their receipts: what a scan spends its processor on,
 * without a network and a database. Started as a worker that is named after the seconds it measures in a thread of its own.
 *
 * @module
 */

import { headSchema, receiptsShape } from "../../../chains/evm/read/answers.ts";
import { parseBlock, type ParseContext } from "../../../chains/evm/read/parse_block.ts";
import { withReadLogs } from "../../../chains/evm/read/receipt_logs.ts";
import { fromTokenUnits } from "../../../ledger/money/amount.ts";
import {
  addressOf,
  composeBlock,
  FAKE,
  HOT,
  transferLog,
  USDT,
} from "../../evm/support/block_fixture.ts";

/** Transactions of a block of Ethereum on a busy day. */
const RECEIPTS = 300;
/** One in so many of them moves a token that counts. */
const COUNTED = 20;
/** Transfers of such a block that count. */
export const TRANSFERS = RECEIPTS / COUNTED;
/** Blocks that are read in turns. */
const BLOCKS = 8;
const WARM_UP = 40;

/** A thread's run. */
export interface ParseRun {
  readonly blocks: number;
  readonly seconds: number;
}

/** The JSON of blocks as a node answers them: half of their transactions move tokens, a tenth of those one that counts. */
export function blockTexts(): readonly string[] {
  return Array.from({ length: BLOCKS }, (_, height) => {
    const transactions = Array.from({ length: RECEIPTS }, (_, n) => ({
      gasUsed: 41_000 + n,
      logs: n % 2 === 0
        ? [transferLog(addressOf(n), addressOf(n + 1), 1_000_000n, n % COUNTED === 0 ? USDT : FAKE)]
        : [],
    }));
    return JSON.stringify(composeBlock(height + 1, transactions));
  });
}

/** The adapter's own way. @throws when a block is not whole */
export function readBlock(text: string) {
  const { head, receipts } = JSON.parse(text);
  const shaped = receiptsShape.safeParse(receipts);
  if (!shaped.success || shaped.data === null) throw new Error("Cannot read the receipts");
  const read = shaped.data.map((receipt) => withReadLogs(receipt, CONTEXT.tokens));
  const answer = parseBlock(headSchema.parse(head), read, CONTEXT);
  if (answer.kind !== "block" || answer.block.transfers.length !== TRANSFERS) {
    throw new Error(`Cannot use a block as it is not whole: ${answer.kind}`);
  }
  return answer.block;
}

const CONTEXT: ParseContext = {
  tokens: new Map([[USDT, { currency: "USDT", unit: fromTokenUnits(1n, 6) }]]),
  hotWallet: HOT,
};

/** Reads blocks one way for a while. */
export function readFor(
  seconds: number,
  texts: readonly string[],
  read: (text: string) => unknown,
): ParseRun {
  const next = (n: number) => read(texts[n % texts.length] ?? "");
  for (let n = 0; n < WARM_UP; n++) next(n);
  const began = performance.now();
  let blocks = 0;
  while (performance.now() - began < seconds * 1_000) next(blocks++);
  return { blocks, seconds: (performance.now() - began) / 1_000 };
}

/** The scope of a worker, of which the types of a window know nothing. Its name is the seconds: a message may come too early. */
const worker = globalThis as {
  readonly postMessage?: (run: ParseRun) => void;
  readonly name?: string;
};
if ("WorkerGlobalScope" in globalThis) {
  worker.postMessage?.(readFor(Number(worker.name), blockTexts(), readBlock));
}
