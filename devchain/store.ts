/**
 * The chain in memory, and on disk as a journal of its changes, which a start carries out again. The texts
 * of blocks lie in a second file, so that memory holds a block's place alone.
 *
 * @module
 */

import type { ForcedFailure } from "./execute.ts";
import { Journal, openGrowing, writeAll } from "./journal.ts";
import type { Changes, StateReader } from "./overlay.ts";

/** Blocks below the solid one whose changes are kept, for nodes that lag. */
const KEPT_BEHIND = 100;

/** Bytes as they are read from a file. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** A block without its texts. */
export interface StoredBlock {
  readonly height: number;
  readonly id: string;
  readonly parentId: string;
  readonly time: number;
  readonly txids: readonly string[];
  /** Those of them that a fault made fail. */
  readonly forced: readonly (readonly [string, ForcedFailure])[];
}

/** A waiting transaction. */
export interface StoredPending {
  readonly txid: string;
  readonly raw: string;
  readonly signatures: readonly string[];
  readonly forced: ForcedFailure | null;
}

/** A new block with everything it changes. */
export interface BlockCommit {
  readonly block: StoredBlock;
  /** The block's JSON. */
  readonly body: string;
  /** The JSON list of its receipts. */
  readonly receipts: string;
  /** Transactions that leave the pool, included or no longer includable. */
  readonly leavePool: readonly string[];
  readonly changes: Changes;
}

/** Places of a block's texts in their file; the receipts follow the body. */
interface Place {
  readonly at: number;
  readonly body: number;
  readonly receipts: number;
}

/** One change of the chain. */
export type Step =
  | { readonly do: "meta"; readonly key: string; readonly value: string }
  | { readonly do: "pend"; readonly pending: StoredPending }
  | { readonly do: "unpend"; readonly txids: readonly string[] }
  | {
    readonly do: "add";
    readonly block: StoredBlock;
    readonly place: Place;
    readonly state: Values;
  }
  /** Drops the head block and restores the state before it. */
  | { readonly do: "drop" }
  /** Makes blocks up to a height final. */
  | { readonly do: "solid"; readonly height: number };
type Values = readonly (readonly [string, string | null])[];

/** The chain's memory and files. */
export class Store implements StateReader {
  readonly meta = new Map<string, string>();
  /** Waiting transactions in the order they came. */
  readonly pool = new Map<string, StoredPending>();
  readonly #journal: Journal<readonly Step[]>;
  readonly #texts: Deno.FsFile;
  readonly #state = new Map<string, string>();
  readonly #blocks: StoredBlock[] = [];
  readonly #places: Place[] = [];
  readonly #heights = new Map<string, number>();
  readonly #undo = new Map<number, Changes>();
  #solid = 0;
  #textsEnd = 0;
  /** Steps of the open commit; null: none is open. */
  #open: Step[] | null = null;
  #isBroken = false;

  /**
   * Opens the files of a folder, or makes them.
   *
   * @throws when another process holds them, or they cannot be read or written
   */
  constructor(folder: string) {
    this.#journal = new Journal(`${folder}/chain.journal`);
    this.#texts = openGrowing(`${folder}/blocks.text`);
    try {
      this.#journal.replay((steps) => steps.forEach((step) => this.#carryOut(step)));
      this.#texts.truncateSync(this.#textsEnd);
    } catch (error) {
      this.close();
      throw new Error(
        `Cannot open the development chain as its file is in use or broken: ${folder}`,
        { cause: error },
      );
    }
  }

  close(): void {
    this.#journal.close();
    this.#texts.close();
  }

  /**
   * Runs changes as one commit; all or none of them is on disk when this returns. Within another
   * one it joins that. A failure ends the use of this store: memory is ahead of the disk then.
   */
  transaction<T>(work: () => T): T {
    if (this.#open !== null) return work();
    if (this.#isBroken) throw new Error("Cannot go on as a commit failed: start the chain again");
    const steps: Step[] = this.#open = [];
    this.#isBroken = true;
    try {
      const result = work();
      if (steps.some((step) => step.do === "add")) this.#texts.syncDataSync();
      if (steps.length > 0) this.#journal.append(steps);
      this.#isBroken = false;
      return result;
    } finally {
      this.#open = null;
    }
  }

  /** Changes the chain, within the open commit or as one of its own. */
  take(step: Step): void {
    this.transaction(() => {
      this.#carryOut(step);
      this.#open?.push(step);
    });
  }

  /** Adds a block; call within {@linkcode transaction}. */
  addBlock({ block, body, receipts, leavePool, changes }: BlockCommit): void {
    const [head, tail] = [new TextEncoder().encode(body), new TextEncoder().encode(receipts)];
    const place = { at: this.#textsEnd, body: head.length, receipts: tail.length };
    writeAll(this.#texts, head);
    writeAll(this.#texts, tail);
    const state = [...changes].map(([key, value]) => [key, value ?? null] as const);
    this.take({ do: "add", block, place, state });
    if (leavePool.length > 0) this.take({ do: "unpend", txids: leavePool });
  }

  get(key: string): string | undefined {
    return this.#state.get(key);
  }

  /** Values that the keys which a block changed held before it; undefined for an old block. */
  undo(height: number): Changes | undefined {
    return this.#undo.get(height);
  }

  /** Height up to which blocks never change. */
  get solid(): number {
    return this.#solid;
  }

  /** The newest block; undefined before there is one. */
  get head(): StoredBlock | undefined {
    return this.#blocks.at(-1);
  }

  block(height: number): StoredBlock | undefined {
    return this.#blocks[height];
  }

  /** The block with an id, which begins with its height. */
  blockById(id: string): StoredBlock | undefined {
    const block = this.block(parseInt(id.slice(0, 16), 16));
    return block?.id === id ? block : undefined;
  }

  /** A block's JSON, or its first bytes. */
  body(height: number, most = Infinity): Bytes | null {
    const place = this.#places[height];
    return place === undefined ? null : this.#read(place.at, Math.min(place.body, most));
  }

  /** The JSON list of a block's receipts. */
  receipts(height: number): Bytes | null {
    const place = this.#places[height];
    return place === undefined ? null : this.#read(place.at + place.body, place.receipts);
  }

  /** The height of the block that holds a transaction. */
  heightOf(txid: string): number | undefined {
    return this.#heights.get(txid);
  }

  /** Number of transactions ever included and not dropped again. */
  get transactionCount(): number {
    return this.#heights.size;
  }

  #carryOut(step: Step): void {
    switch (step.do) {
      case "meta":
        this.meta.set(step.key, step.value);
        return;
      case "pend":
        this.pool.set(step.pending.txid, step.pending);
        return;
      case "unpend":
        for (const txid of step.txids) this.pool.delete(txid);
        return;
      case "add": {
        const { block, place, state } = step;
        this.#blocks.push(block);
        this.#places.push(place);
        this.#textsEnd = place.at + place.body + place.receipts;
        for (const txid of block.txids) this.#heights.set(txid, block.height);
        this.#undo.set(block.height, new Map(state.map(([key]) => [key, this.#state.get(key)])));
        for (const [key, value] of state) this.#setState(key, value ?? undefined);
        return;
      }
      case "drop": {
        const block = this.#blocks.pop();
        this.#places.pop();
        const undo = block === undefined ? undefined : this.#undo.get(block.height);
        if (block === undefined || undo === undefined || block.height <= this.#solid) {
          throw new RangeError(`Cannot drop a block as it is final: ${block?.height}`);
        }
        for (const [key, value] of undo) this.#setState(key, value);
        this.#undo.delete(block.height);
        for (const txid of block.txids) this.#heights.delete(txid);
        return;
      }
      case "solid":
        this.#solid = step.height;
        for (const height of this.#undo.keys()) {
          if (height <= step.height - KEPT_BEHIND) this.#undo.delete(height);
        }
        return;
      default:
        throw new TypeError(`Cannot carry out an unknown step: ${step satisfies never}`);
    }
  }

  #setState(key: string, value: string | undefined): void {
    if (value === undefined) this.#state.delete(key);
    else this.#state.set(key, value);
  }

  #read(at: number, length: number): Bytes {
    const bytes = new Uint8Array(length);
    this.#texts.seekSync(at, Deno.SeekMode.Start);
    for (let read = 0; read < length;) {
      const count = this.#texts.readSync(bytes.subarray(read));
      if (count === null) throw new Error(`Cannot read a block's text at ${at}: its file ends`);
      read += count;
    }
    return bytes;
  }
}
