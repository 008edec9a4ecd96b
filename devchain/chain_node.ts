/**
 * The chain itself: the pool, block production, finality, reorganisation. Every method runs to its
 * end without waiting, so that calls never interleave; what it changed is on disk when it returns.
 *
 * @module
 */

import { checkEnvelope, checkReference, checkSignature } from "./admission.ts";
import { makeHeader } from "./block.ts";
import { execute, type Execution, type ForcedFailure } from "./execute.ts";
import { createChain, type Identity, readIdentity } from "./genesis.ts";
import { Overlay, type StateReader } from "./overlay.ts";
import { MAX_BLOCK_SIZE, MAX_PENDING } from "./parameters.ts";
import { type NodeRefusal, REFUSALS } from "./refusal.ts";
import {
  type CarriedOut,
  contractRetOf,
  readTransactions,
  renderBlock,
  type Waiting,
} from "./render.ts";
import { SignerFinder } from "./signature.ts";
import type { Store, StoredBlock } from "./store.ts";
import { assemble, type Transaction } from "./transaction.ts";

/** A waiting transaction. */
export interface Pending extends Waiting {
  /** Outcome expected on the present state. */
  readonly contractRet: string;
}

type Admission =
  | { readonly ok: true; readonly layer: Overlay; readonly execution: Execution }
  | { readonly ok: false; readonly refusal: NodeRefusal };

/** A reorganisation that cannot be done. */
export class CannotReorganise extends Error {
  override readonly name = "CannotReorganise";
}

/** One development chain. */
export class ChainNode {
  readonly identity: Identity;
  readonly store: Store;
  readonly #pool = new Map<string, Pending>();
  readonly #signers = new SignerFinder();
  readonly #now: () => number;
  #solidLag: number;
  /** Time of the newest block ever made, dropped ones included. */
  #latestTime: number;
  /** Lead of block time over the clock when a block was made last, and the time of that. */
  #ahead: { readonly ms: number; readonly at: number };
  #expected: Overlay;

  /**
   * Opens the chain, or makes a new one.
   *
   * @param solidLag blocks from the head back to the solid block
   * @param now the clock, Unix milliseconds
   */
  constructor(store: Store, solidLag: number, now: () => number) {
    this.store = store;
    this.#now = now;
    this.#solidLag = solidLag;
    this.identity = readIdentity(store) ?? createChain(store, now());
    this.#latestTime = Number(store.meta.get("latest-time") ?? this.head.time);
    this.#ahead = JSON.parse(store.meta.get("ahead-of-clock") ?? `{"ms":0,"at":${now()}}`);
    this.#expected = new Overlay(store);
    for (const { raw, signatures, forced } of store.pool.values()) {
      this.#admit(assemble(Uint8Array.fromHex(raw), signatures), forced);
    }
    this.#advanceSolid();
  }

  /** The newest block. */
  get head(): StoredBlock {
    const { head } = this.store;
    if (head === undefined) throw new RangeError("Cannot open the chain as it has no blocks");
    return head;
  }

  /** The newest block that never changes. */
  get solid(): StoredBlock {
    return this.store.block(this.store.solid) ?? this.head;
  }

  /** Blocks from the head back to the solid block. */
  get solidLag(): number {
    return this.#solidLag;
  }

  /** Waiting transactions by id, oldest first. */
  get pool(): ReadonlyMap<string, Pending> {
    return this.#pool;
  }

  /** Present block time: what a block made now would carry at least. */
  get time(): number {
    return Math.max(this.#clock(), this.head.time);
  }

  /**
   * The state after the newest block, or after the solid one.
   *
   * @param behind blocks before that; those from before the last start count as none
   */
  state(view: "head" | "solid", behind = 0): StateReader {
    if (view === "head" && behind === 0) return this.store;
    const top = (view === "head" ? this.head.height : this.store.solid) - behind;
    return {
      get: (key) => {
        for (let height = top + 1; height <= this.head.height; height++) {
          const before = this.store.undo(height);
          if (before?.has(key)) return before.get(key);
        }
        return this.store.get(key);
      },
    };
  }

  /** Changes the distance of finality. The solid block never goes back. */
  setSolidLag(solidLag: number): void {
    this.#solidLag = solidLag;
    this.#advanceSolid();
  }

  /**
   * Takes a transaction into the pool.
   *
   * @param forced a failure its contract call is to end with
   * @returns why it was not taken, null when it was
   */
  broadcast(transaction: Transaction, forced: ForcedFailure | null): NodeRefusal | null {
    const admitted = this.#try(transaction, forced);
    if (!admitted.ok) return admitted.refusal;
    const { txid, rawHex, signatures } = transaction;
    this.store.take({ do: "pend", pending: { txid, raw: rawHex, signatures, forced } });
    admitted.layer.mergeInto(this.#expected);
    this.#pool.set(txid, { transaction, forced, contractRet: contractRetOf(admitted.execution) });
    return null;
  }

  /** As {@linkcode broadcast}, but the transaction is not kept. */
  check(transaction: Transaction): NodeRefusal | null {
    const admitted = this.#try(transaction, null);
    return admitted.ok ? null : admitted.refusal;
  }

  #try(transaction: Transaction, forced: ForcedFailure | null): Admission {
    if (this.#pool.size >= MAX_PENDING) return { ok: false, refusal: REFUSALS.busy };
    const refusal = checkSignature(transaction, this.#signers) ?? this.#checkPlace(transaction);
    if (refusal !== null) return { ok: false, refusal };
    if (this.#pool.has(transaction.txid) || this.store.heightOf(transaction.txid) !== undefined) {
      return { ok: false, refusal: REFUSALS.duplicate };
    }
    const layer = new Overlay(this.#expected);
    const outcome = execute(layer, transaction, this.head.time, forced);
    return outcome.ok ? { ok: true, layer, execution: outcome.execution } : outcome;
  }

  /**
   * Makes blocks at once: the first carries the present time, each further one `spacing` milliseconds
   * more. Block time then runs on at half the clock's pace until the clock has caught up.
   */
  mine(count: number, spacing: number): void {
    if (count <= 0) return;
    this.store.transaction(() => {
      let time = Math.max(this.#clock(), this.#latestTime + 1);
      for (let i = 0; i < count; i++) {
        this.#addBlock(time);
        time += Math.max(1, spacing);
      }
      const now = this.#now();
      this.#ahead = { ms: Math.max(0, this.#latestTime - now), at: now };
      this.store.take({ do: "meta", key: "latest-time", value: `${this.#latestTime}` });
      this.store.take({ do: "meta", key: "ahead-of-clock", value: JSON.stringify(this.#ahead) });
      this.#advanceSolid();
    });
  }

  /**
   * Drops the newest blocks. Their transactions return to the pool, or vanish.
   *
   * @throws {CannotReorganise} when a solid block would have to go
   */
  reorganise(depth: number, drop: boolean): void {
    if (depth > this.head.height - this.store.solid) {
      throw new CannotReorganise(
        `Cannot drop ${depth} blocks as block ${this.store.solid} is solid: head ${this.head.height}`,
      );
    }
    const returned: Waiting[] = [];
    this.store.transaction(() => {
      for (let i = 0; i < depth; i++) {
        const { height, forced } = this.head;
        const body = new TextDecoder().decode(this.store.body(height) ?? undefined);
        this.store.take({ do: "drop" });
        if (!drop) returned.unshift(...readTransactions(body, new Map(forced)));
      }
      // Returned transactions are older than those that wait.
      const waiting = [...this.#pool.values()];
      this.store.take({ do: "unpend", txids: [...this.#pool.keys()] });
      this.#pool.clear();
      for (const { transaction, forced } of [...returned, ...waiting]) {
        const { txid, rawHex, signatures } = transaction;
        this.store.take({ do: "pend", pending: { txid, raw: rawHex, signatures, forced } });
        this.#pool.set(txid, { transaction, forced, contractRet: "SUCCESS" });
      }
      this.#expect();
    });
  }

  /**
   * The clock of blocks. After blocks were mined ahead of real time it runs at half its pace until real
   * time has caught up: clients that compare the two would otherwise take the node for a liar.
   */
  #clock(): number {
    const now = this.#now();
    const passed = Math.max(0, now - this.#ahead.at);
    return now + Math.max(0, this.#ahead.ms - Math.floor(passed / 2));
  }

  #checkPlace(transaction: Transaction): NodeRefusal | null {
    return checkReference(
      transaction,
      this.head.height,
      (height) => this.store.block(height)?.id ?? null,
    ) ?? checkEnvelope(transaction, this.head.time);
  }

  #addBlock(time: number): void {
    const layer = new Overlay(this.store);
    const carried: CarriedOut[] = [];
    const left: string[] = [];
    let size = 0;
    for (const [txid, pending] of this.#pool) {
      if (size + pending.transaction.size > MAX_BLOCK_SIZE) break;
      left.push(txid);
      const execution = this.#carry(layer, pending, time);
      if (execution === null) continue;
      size += pending.transaction.size;
      carried.push({ ...pending, execution });
    }
    const height = this.head.height + 1;
    const header = makeHeader(
      height,
      this.head.id,
      time,
      carried.map((entry) => entry.transaction),
      this.identity.witness,
    );
    const block = {
      height,
      id: header.id,
      parentId: header.parentId,
      time,
      txids: carried.map(({ transaction }) => transaction.txid),
      forced: carried.flatMap(({ transaction: { txid }, forced }) =>
        forced === null ? [] : [[txid, forced] as const]
      ),
    };
    const text = renderBlock(header, carried);
    this.store.addBlock({ block, ...text, leavePool: left, changes: layer.changes() });
    for (const txid of left) this.#pool.delete(txid);
    this.#latestTime = Math.max(this.#latestTime, time);
    this.#expect();
  }

  /** Carries a waiting transaction out within a block; null when it cannot be included any more. */
  #carry(layer: Overlay, pending: Pending, time: number): Execution | null {
    const { transaction, forced } = pending;
    if (this.#checkPlace(transaction) !== null) return null;
    // Not even by its own block's time may a transaction be past its expiration.
    if ((transaction.raw.expiration ?? 0) < time) return null;
    const attempt = new Overlay(layer);
    const outcome = execute(attempt, transaction, time, forced);
    if (!outcome.ok) return null;
    attempt.mergeInto(layer);
    return outcome.execution;
  }

  /** Tries the waiting transactions afresh on the present state. */
  #expect(): void {
    this.#expected = new Overlay(this.store);
    for (const { transaction, forced } of this.#pool.values()) this.#admit(transaction, forced);
  }

  #admit(transaction: Transaction, forced: ForcedFailure | null): void {
    const layer = new Overlay(this.#expected);
    const outcome = execute(layer, transaction, this.head.time, forced);
    if (outcome.ok) layer.mergeInto(this.#expected);
    const contractRet = outcome.ok ? contractRetOf(outcome.execution) : "SUCCESS";
    this.#pool.set(transaction.txid, { transaction, forced, contractRet });
  }

  #advanceSolid(): void {
    const height = Math.max(this.store.solid, this.head.height - this.#solidLag);
    if (height !== this.store.solid) this.store.take({ do: "solid", height });
  }
}
