/**
 * A chain on paper that counts nonces: it takes transactions of one wallet in their order, evicts them from its pool, loses
 * broadcasts, lets fees jump, takes blocks back down to its solid ones, and reverts.
 *
 * @module
 */

import type {
  Block,
  BlockAnswer,
  BlockRef,
  Chain,
  Envelope,
  IncludedTransaction,
  TransactionLookup,
  Transfer,
} from "../../../chains/chain.ts";
import type { FeeEstimate } from "../../../chains/fees.ts";
import type { LaneAsk } from "../../../chains/lane.ts";
import { type Amount, amountOf } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { paperChain } from "../../support/paper_chain.ts";

/** A transaction of the hot wallet. */
export interface CountedTransaction {
  readonly txid: string;
  readonly nonce: number;
  readonly price: number;
  /** Ids of what it pays; none: it takes its nonce out of use. */
  readonly pays: readonly string[];
}

/** A transfer as its transaction moves it. */
export interface Intended {
  readonly from: string;
  readonly to: string;
  readonly amount: Amount;
  /** True: its transaction reverts. */
  readonly reverts: boolean;
}

/** Blocks from the newest to the last that is final. */
const SOLID_LAG = 3;
/** The most that a transaction may offer. */
const CAP = 200;
/** A replacement offers so much more than what it replaces, or nodes do not take it. */
const BUMP = 1.1;

/** The chain and its troubles, all drawn from one source. */
export class CountingChain {
  readonly #blocks: { readonly transactions: readonly CountedTransaction[] }[] = [];
  readonly #first: number;
  readonly #draw: () => number;
  #pool: CountedTransaction[] = [];
  #base = 10;
  /** Transfers by the ids of their outgoing rows. */
  readonly intended = new Map<string, Intended>();
  /** Signatures of transactions that are not the wallet's own; null: no node shows one. */
  readonly signatures = new Map<
    string,
    { readonly eventFrom: string; readonly nonce: number } | null
  >();
  /** Questions for signatures. */
  asked = 0;
  /** Transactions of others that a node calls the wallet's, by the heights of their blocks. */
  readonly #claims = new Map<string, number>();
  /** Those that their blocks are shown without. */
  readonly hidden = new Set<string>();
  /** Transactions of the wallet that no node calls the wallet's. */
  readonly unclaimed = new Set<string>();
  /** False: broadcasts may be lost, and blocks may leave transactions out. */
  isCalm = false;
  /** True: no broadcast arrives. */
  losesBroadcasts = false;
  readonly port: Chain;

  /**
   * @param first the wallet's next nonce at the beginning
   * @param startedAt time of its first block, Unix milliseconds
   */
  constructor(
    network: Network,
    first: number,
    draw: () => number,
    readonly startedAt = 1_700_000_000_000,
  ) {
    this.#first = first;
    this.#draw = draw;
    for (let n = 0; n < SOLID_LAG + 2; n++) this.#blocks.push({ transactions: [] });
    this.port = this.#makePort(network);
  }

  get solidHeight(): number {
    return this.#blocks.length - 1 - SOLID_LAG;
  }

  /** Transactions in solid blocks, oldest first. */
  get solid(): readonly CountedTransaction[] {
    return this.#blocks.slice(0, this.solidHeight + 1).flatMap(({ transactions }) => transactions);
  }

  /** Transactions in blocks that may still vanish, with their heights. */
  get seen(): readonly { readonly txid: string; readonly height: number }[] {
    return this.#blocks.flatMap(({ transactions }, height) =>
      height <= this.solidHeight ? [] : transactions.map(({ txid }) => ({ txid, height }))
    );
  }

  fails({ pays }: CountedTransaction): boolean {
    return pays.some((id) => this.intended.get(id)?.reverts === true);
  }

  /** The next nonce by the blocks up to a height. */
  next(height: number): number {
    return this.#first +
      this.#blocks.slice(0, height + 1).reduce((sum, one) => sum + one.transactions.length, 0);
  }

  mine(): void {
    const transactions: CountedTransaction[] = [];
    for (let nonce = this.next(this.#blocks.length - 1);; nonce++) {
      const found = this.#pool.find((one) => one.nonce === nonce && one.price >= this.#base);
      if (found === undefined || (!this.isCalm && this.#draw() < 0.15)) break;
      transactions.push(found);
      this.#pool = this.#pool.filter((one) => one.nonce !== nonce);
    }
    this.#blocks.push({ transactions });
  }

  evict(): void {
    this.#pool.splice(Math.floor(this.#draw() * this.#pool.length), 1);
  }

  jump(base: number): void {
    this.#base = base;
  }

  /** Takes the newest blocks back; their transactions wait again, or are gone. */
  reorganise(): void {
    const depth = 1 + Math.floor(this.#draw() * SOLID_LAG);
    const gone = this.#blocks.splice(-depth);
    if (this.#draw() < 0.5) {
      for (const one of gone.flatMap(({ transactions }) => transactions)) {
        if (!this.#pool.some(({ nonce }) => nonce === one.nonce)) this.#pool.push(one);
      }
    }
    for (let n = 0; n < depth; n++) this.mine();
  }

  /** A transaction of the hot key that the service did not sign: it is in the next block. */
  strange(txid: string): void {
    const nonce = this.next(this.#blocks.length - 1);
    this.#pool = this.#pool.filter((one) => one.nonce !== nonce);
    this.#blocks.push({ transactions: [{ txid, nonce, price: this.#base, pays: [] }] });
  }

  /** A transaction of another in the next block, which a node calls the wallet's. */
  claim(txid: string): void {
    this.#blocks.push({ transactions: [] });
    this.#claims.set(txid, this.#blocks.length - 1);
  }

  block(height: number): Block {
    const transactions = this.#blocks[height]?.transactions ?? [];
    const claimed = [...this.#claims].flatMap(([txid, at]): IncludedTransaction[] =>
      at === height && !this.hidden.has(txid)
        ? [{ txid, success: true, failure: null, fee: amountOf("1"), byHotWallet: true }]
        : []
    );
    return {
      ...this.#ref(height),
      transactions: [
        ...claimed,
        ...transactions.map((one): IncludedTransaction => ({
          txid: one.txid,
          success: !this.fails(one),
          failure: this.fails(one) ? "REVERT" : null,
          fee: amountOf(String(one.price)),
          ...(this.unclaimed.has(one.txid) ? {} : { byHotWallet: true as const }),
        })),
      ],
      transfers: transactions.filter((one) => !this.fails(one)).flatMap((one) =>
        one.pays.map((id, logIndex): Transfer => {
          const intended = this.intended.get(id);
          if (intended === undefined) throw new Error(`Cannot move what is not intended: ${id}`);
          return {
            txid: one.txid,
            logIndex,
            currency: "USDT",
            eventFrom: intended.from,
            eventTo: intended.to,
            amount: intended.amount,
            diesAfter: Number.MAX_SAFE_INTEGER,
            expiresAt: Number.MAX_SAFE_INTEGER,
          };
        })
      ),
    };
  }

  #lookUp(txid: string): TransactionLookup {
    for (let height = 0; height <= this.solidHeight; height++) {
      const { transactions, transfers, time } = this.block(height);
      const found = transactions.find((one) => one.txid === txid);
      if (found === undefined) continue;
      const own = transfers.filter((one) => one.txid === txid);
      return { kind: "found", transaction: { ...found, transfers: own, height, time } };
    }
    return { kind: "missing", txid };
  }

  async *#between(from: number, to: number): AsyncIterable<BlockAnswer> {
    for (let height = from; height <= to; height++) {
      yield await Promise.resolve({ kind: "block", block: this.block(height) });
    }
  }

  #ref(height: number): BlockRef {
    const time = this.startedAt + height * 1_000;
    return {
      height,
      parentHeight: height - 1,
      hash: `b${height}`,
      parentHash: `b${height - 1}`,
      time,
      tick: time,
    };
  }

  #broadcast(bytes: string): void {
    const one: CountedTransaction = JSON.parse(bytes);
    if (this.losesBroadcasts || !this.isCalm && this.#draw() < 0.15) return;
    if (one.nonce < this.next(this.#blocks.length - 1)) return;
    const earlier = this.#pool.find(({ nonce }) => nonce === one.nonce);
    if (earlier !== undefined && (earlier.txid === one.txid || one.price < earlier.price * BUMP)) {
      return;
    }
    this.#pool = [...this.#pool.filter((other) => other !== earlier), one];
  }

  #feeAt(price: number): FeeEstimate {
    const fee = amountOf(String(price));
    return { fee, limit: fee, terms: { price } };
  }

  #asks(): LaneAsk {
    const now = Math.min(CAP, this.#base * 2 + 1);
    const above = (bytes: readonly string[]) => {
      const price = Math.max(now, ...bytes.map((one) => Math.ceil(priceOf(one) * 1.125)));
      return price > CAP ? null : this.#feeAt(price);
    };
    return {
      isPassedOver: (bytes) => priceOf(bytes) < this.#base + 1,
      replacing: above,
      cancelling: above,
      within: () => this.#asks(),
    };
  }

  #makePort(network: Network): Chain {
    return paperChain(network, {
      capabilities: {
        currencies: ["USDT"],
        blockMs: 1_000,
        sweepsAtOnce: 2,
        life: {
          kind: "nonce",
          lane: {
            next: (_, view) =>
              Promise.resolve(
                this.next(view === "solid" ? this.solidHeight : this.#blocks.length - 1),
              ),
            sent: (txid) => {
              this.asked++;
              const found = this.signatures.get(txid) ??
                this.#blocks.flatMap(({ transactions }) => transactions)
                  .find((one) => one.txid === txid);
              if (found === undefined) return Promise.resolve(null);
              const eventFrom = "eventFrom" in found ? found.eventFrom : "hot-wallet";
              const { nonce } = found;
              const bytes = JSON.stringify({ txid, nonce, sender: eventFrom });
              return Promise.resolve({ eventFrom, nonce, bytes });
            },
            asks: () => Promise.resolve(this.#asks()),
            mostUnseen: 6,
            bumpAfterMs: 0,
          },
        },
      },
      head: () => Promise.resolve(this.#ref(this.#blocks.length - 1)),
      solid: () => Promise.resolve(this.#ref(this.solidHeight)),
      block: (height) => Promise.resolve({ kind: "block", block: this.block(height) }),
      blocks: (from, to) => this.#between(from, to),
      transaction: (txid) => Promise.resolve(this.#lookUp(txid)),
      estimateFee: () => Promise.resolve(this.#feeAt(Math.min(CAP, this.#base * 2 + 1))),
      envelope: (_, { terms = {} }, nonce): Envelope => ({
        network,
        fields: terms,
        diesAfter: null,
        nonce,
        expiresAt: null,
      }),
      termsOf: (bytes) => ({
        beginning: null,
        diesAfter: null,
        nonce: (JSON.parse(bytes) as CountedTransaction).nonce,
        feeLimit: amountOf(String(priceOf(bytes))),
      }),
      broadcast: ({ bytes }) => {
        this.#broadcast(bytes);
        return Promise.resolve({ category: "accepted", retryable: true });
      },
    });
  }
}

function priceOf(bytes: string): number {
  return (JSON.parse(bytes) as CountedTransaction).price;
}
