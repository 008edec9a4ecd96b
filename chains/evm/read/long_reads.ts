/**
 * Reads of blocks whose receipts are many. Anybody can fill a block of a cheap chain with logs: as one text a hundred
 * megabytes of them would hold the thread for seconds. From a bound on they are taken piece by piece; those of one block
 * of a network at a time, as they take memory. A block that fails again and again has more time with each try, and
 * from the third on its receipts are asked for one by one, of which those that have come are kept.
 *
 * @module
 */

import type { ChainUnavailable } from "../../chain.ts";
import { BlockTries, NODES_IN_TIME } from "../../nodes/block_tries.ts";
import { KeptReceipts } from "../../nodes/kept_receipts.ts";
import { ListCutter } from "../../nodes/list_cutter.ts";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import type { ChainNode, LongAnswer } from "../../nodes/node.ts";
import { Slices } from "../../nodes/slices.ts";
import { cutReceiptsSchema, receiptsShape } from "./answers.ts";
import { LowestFirst } from "./lowest_first.ts";
import { type KnownTokens, LogLists, type ReadReceipt, withReadLogs } from "./receipt_logs.ts";

/** Bytes of receipts that are read as one text: some ten milliseconds of the thread, twice those of a busy block. */
const ONE_TEXT_BYTES = 1024 * 1024;
/** Receipts in one request, by the number of failed tries. */
const RECEIPTS_AT_ONCE = [50, 5, 1];

/** Options of a network's long reads. */
export interface LongReadOptions {
  readonly tokens: KnownTokens;
  /** Bound of one read over all nodes, milliseconds; longer where a block fails again and again. */
  readonly totalTimeoutMs: number;
  /** Number of nodes that it is for. */
  readonly nodes: number;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
}

/** The long reads of one network. */
export class LongReads {
  readonly turns = new LowestFirst();
  readonly tries = new BlockTries();
  readonly #kept: KeptReceipts<ReadReceipt>;

  constructor(readonly options: LongReadOptions) {
    this.#kept = new KeptReceipts({ sources: 1, monotonic: options.monotonic });
  }

  /** Begins to read the receipts of a block. @param turn its place among those that wait; see {@linkcode LowestFirst} */
  begin(height: number, hash: string, turn: number = height): LongRead {
    return new LongRead(this, height, hash, turn);
  }

  /** A block was read. */
  succeeded(height: number): void {
    this.tries.succeeded(height);
    this.forget(height);
  }

  /** Drops the receipts of a block that were kept. */
  forget(height: number): void {
    this.#kept.forget(height);
  }

  /** Receipts of a block that have come in earlier tries; see {@linkcode KeptReceipts}. */
  keptOf(height: number, hash: string): Map<string, ReadReceipt> {
    return this.#kept.of(height, hash);
  }
}

/** One read of a block's receipts, or of one of them. */
export class LongRead implements LongAnswer, Disposable {
  readonly from = ONE_TEXT_BYTES;
  readonly timeFactor: number;
  readonly wholeMs: number;
  hasBegun = false;
  readonly #reads: LongReads;
  readonly #height: number;
  readonly #hash: string;
  readonly #turn: number;
  readonly #slices = new Slices();
  readonly #logs: LogLists;
  #cutter: ListCutter | null = null;
  #holdsTurn = false;

  constructor(reads: LongReads, height: number, hash: string, turn: number) {
    const { tokens, totalTimeoutMs, nodes } = reads.options;
    this.#reads = reads;
    this.#height = height;
    this.#hash = hash;
    this.#turn = turn;
    this.#logs = new LogLists(tokens);
    this.timeFactor = reads.tries.timeFactor(height);
    this.wholeMs = totalTimeoutMs * this.timeFactor / Math.min(nodes, NODES_IN_TIME);
  }

  /** True where all receipts of the block may still come in one answer. */
  get mayBeTogether(): boolean {
    return this.#reads.tries.mayBeTogether(this.#height);
  }

  /** Receipts to ask for in one request. */
  get atOnce(): number {
    return RECEIPTS_AT_ONCE[this.#reads.tries.failuresOf(this.#height)] ?? 1;
  }

  /** Receipts of the block that have come in earlier tries, by their transactions. */
  get kept(): Map<string, ReadReceipt> {
    return this.#reads.keptOf(this.#height, this.#hash);
  }

  async begin(signal: AbortSignal | undefined): Promise<void> {
    this.hasBegun = true;
    if (!this.#holdsTurn) {
      await this.#reads.turns.enter(this.#turn, signal);
      this.#holdsTurn = true;
    }
    this.#cutter = new ListCutter("logs", this.#logs);
  }

  async take(piece: Uint8Array): Promise<void> {
    this.#cutter?.push(piece);
    await this.#slices.rest();
  }

  end(): string {
    return this.#cutter?.end() ?? "";
  }

  /** Receipts of an answer, whether its logs were taken out of it or not. */
  readonly receipts: AnswerShape<readonly ReadReceipt[] | null> = {
    safeParse: (json) => {
      if (isCut(json)) return cutReceiptsSchema(this.#logs.lists).safeParse(json);
      const parsed = receiptsShape.safeParse(json);
      if (!parsed.success) return parsed;
      const { tokens } = this.#reads.options;
      const data = parsed.data?.map((receipt) => withReadLogs(receipt, tokens)) ?? null;
      return { success: true, data };
    },
  };

  /** The receipt of one transaction; null where the node does not have it. */
  readonly receipt: AnswerShape<ReadReceipt | null> = {
    safeParse: (json) => {
      if (json === null) return { success: true, data: null };
      const parsed = this.receipts.safeParse([json]);
      return parsed.success ? { success: true, data: parsed.data?.[0] ?? null } : parsed;
    },
  };

  /**
   * Counts a failure for which the block may be too long.
   *
   * @returns true where it is the block's, and the node is not to blame
   */
  failed(node: ChainNode, failure: ChainUnavailable, signal: AbortSignal): boolean {
    const { hasBegun } = this;
    const { label } = node;
    return this.#reads.tries.failed(this.#height, { node: label, failure, hasBegun, signal });
  }

  /** Its receipts were compared with their root. */
  proved(isWhole: boolean): void {
    if (isWhole) this.#reads.succeeded(this.#height);
    else this.#reads.forget(this.#height);
  }

  [Symbol.dispose](): void {
    if (this.#holdsTurn) this.#reads.turns.leave();
    this.#holdsTurn = false;
  }
}

/** True for receipts whose logs were taken out of them. */
function isCut(json: unknown): boolean {
  if (!Array.isArray(json)) return false;
  const [first] = json;
  return typeof first === "object" && first !== null && Array.isArray(first.logs) &&
    typeof first.logs[0] === "number";
}
