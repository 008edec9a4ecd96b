/**
 * Everything that happened to a chain, in order, on disk before it is carried out. The same commands give
 * the same blocks with the same hashes, whatever became of the process that carried them out first.
 *
 * @module
 */

import { dirname } from "node:path";
import type { Fault } from "../faults.ts";
import { Journal, writeAll } from "../journal.ts";
import type { Pace } from "../options.ts";
import type { Identity } from "./genesis.ts";
import type { Fate, Waiting } from "./pool.ts";
import type { Hex } from "./rpc.ts";

/** A block, with all that decides its hash. */
export interface BlockCommand {
  readonly do: "block";
  /** The block that it was made on: another one there means that the same commands gave other blocks. */
  readonly parent: Hex;
  /** Unix milliseconds. */
  readonly time: number;
  /** Lead of block time over the clock from now on, milliseconds. */
  readonly lead: number;
  /** Wei, decimal. */
  readonly baseFee: string;
  readonly txids: readonly Hex[];
  /** Senders whose calls fail in it. */
  readonly fates: readonly (readonly [sender: Hex, fate: Fate])[];
  /** Height of the block that is final from now on. */
  readonly final: number;
}

/** One thing that happened. */
export type Command =
  | BlockCommand
  | { readonly do: "wait"; readonly waiting: Waiting }
  | { readonly do: "evict"; readonly txid: Hex }
  /** The newest blocks are dropped down to a height; their transactions wait again, or vanish. */
  | { readonly do: "reorganise"; readonly to: number; readonly drop: boolean }
  | {
    readonly do: "settle";
    readonly pace: Pace;
    /** The pace of the options that it was set under. */
    readonly startedWith: Pace;
    readonly final: number;
  }
  /** Null: the base fee follows the blocks' use. */
  | { readonly do: "base-fee"; readonly wei: string | null }
  | { readonly do: "faults"; readonly faults: readonly Fault[] };

/** A block that may have to be dropped, or the newest final one. */
export interface KeptBlock {
  readonly height: number;
  readonly hash: Hex;
  /** Unix milliseconds. */
  readonly time: number;
  readonly transactions: readonly Waiting[];
}

/** All that is true of a chain besides the state that anvil holds. */
export interface Facts {
  identity: Identity;
  /** Hash of the first block. */
  genesis: Hex;
  /** From the newest final one to the head, never empty. */
  blocks: KeptBlock[];
  final: number;
  /** In the order in which they came. */
  pool: Waiting[];
  /** Reorganisations so far; decides the hashes of later blocks. */
  forks: number;
  lead: number;
  /** Wei, decimal; null: follows the blocks' use. */
  baseFee: string | null;
  pace: Pace;
  startedWith: Pace;
  faults: readonly Fault[];
}

/** The place that a journal begins at: facts, and the file with anvil's state. */
export interface Base {
  readonly do: "base";
  /** Name of the file in the chain's folder. */
  readonly state: string;
  readonly facts: Facts;
}

const JOURNAL = "chain.journal";

/** The commands of a chain since its base. */
export class CommandLog {
  readonly #folder: string;
  readonly #lock: Deno.FsFile;
  #journal: Journal<Base | Command> | null = null;
  #base: Base | null = null;
  #commands: Command[] = [];

  /**
   * Opens the log of a folder.
   *
   * @throws {Error} when another process holds it, or a line of it is damaged
   */
  constructor(folder: string) {
    this.#folder = folder;
    this.#lock = Deno.openSync(`${folder}/lock`, { write: true, create: true, mode: 0o600 });
    try {
      if (!this.#lock.tryLockSync(true)) {
        throw new Error(`Cannot open the development chain as another process holds it: ${folder}`);
      }
      if (isThere(`${folder}/${JOURNAL}`)) this.#read();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #read(): void {
    this.#journal = new Journal(`${this.#folder}/${JOURNAL}`);
    try {
      this.#journal.replay((line) => {
        if (line.do === "base") this.#base = line;
        else this.#commands.push(line);
      });
    } catch (error) {
      throw new Error(
        `Cannot open the development chain as its journal is damaged, delete its folder: ${this.#folder}: ${error}`,
      );
    }
  }

  /** The base, null where a new chain has none yet. */
  get base(): Base | null {
    return this.#base;
  }

  /** The commands since the base, oldest first. */
  get commands(): readonly Command[] {
    return this.#commands;
  }

  /** The state of anvil at the base. @throws {Error} when there is no base */
  async baseState(): Promise<string> {
    return await Deno.readTextFile(`${this.#folder}/${this.#needBase().state}`);
  }

  /** Makes a command durable. @throws {Error} when there is no base */
  append(command: Command): void {
    this.#needBase();
    this.#journal?.append(command);
    this.#commands.push(command);
  }

  /** Makes a state of anvil durable, for a base. @returns the name of its file */
  writeState(height: number, state: string): string {
    const name = `state-${height}-${crypto.randomUUID().slice(0, 8)}.hex`;
    writeWhole(`${this.#folder}/${name}`, state);
    return name;
  }

  /**
   * Begins the journal anew at another base. A crash leaves either the old one or the new one.
   *
   * @param after commands since that base
   */
  rebase(base: Base, after: readonly Command[]): void {
    const path = `${this.#folder}/${JOURNAL}`;
    writeWhole(path, [base, ...after].map((line) => `${JSON.stringify(line)}\n`).join(""));
    this.#journal?.close();
    this.#journal = new Journal(path);
    this.#base = base;
    this.#commands = [...after];
    this.#removeOldStates(base.state);
  }

  #removeOldStates(kept: string): void {
    for (const { name } of Deno.readDirSync(this.#folder)) {
      if (!/^state-\d+-\w+\.hex(\.new)?$/.test(name) || name === kept) continue;
      Deno.removeSync(`${this.#folder}/${name}`);
    }
  }

  #needBase(): Base {
    if (this.#base !== null) return this.#base;
    throw new Error(`Cannot use the development chain as it has no base: ${this.#folder}`);
  }

  close(): void {
    this.#journal?.close();
    // a program that is just being started holds a copy of the file for a moment, and with it the lock
    this.#lock.unlockSync();
    this.#lock.close();
  }
}

/** Writes a file durably. A crash leaves the old one or the new one. */
export function writeWhole(path: string, text: string): void {
  const fresh = `${path}.new`;
  {
    using file = Deno.openSync(fresh, { write: true, create: true, truncate: true, mode: 0o600 });
    writeAll(file, new TextEncoder().encode(text));
    file.syncSync();
  }
  Deno.renameSync(fresh, path);
  using folder = Deno.openSync(dirname(path), { read: true });
  folder.syncSync();
}

/** True if there is a file. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
