/**
 * The chain on disk: one SQLite file, held exclusively, every commit flushed before the call
 * returns. Memory holds a bounded cache of the state; blocks are read from the file.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { ForcedFailure } from "./execute.ts";
import type { Changes, StateReader } from "./overlay.ts";
import {
  blockOf,
  type Bytes,
  bytesOf,
  forcedOf,
  isRow,
  pendingOf,
  type Row,
  type StoredBlock,
  type StoredPending,
  textOf,
} from "./stored_rows.ts";

const SCHEMA = `
create table if not exists meta (key text primary key, value text not null) without rowid;
create table if not exists state (key text primary key, value text not null) without rowid;
create table if not exists block (
  height integer primary key, id text not null unique, parent_id text not null,
  time integer not null, transactions integer not null, body blob not null, receipts blob not null
);
create table if not exists included (
  txid text primary key, height integer not null, body_from integer not null,
  body_length integer not null, receipt_from integer not null, receipt_length integer not null,
  forced text
) without rowid;
create index if not exists included_height on included (height);
create table if not exists undo (height integer primary key, changes text not null);
create table if not exists pool (
  seq integer primary key, txid text not null unique, raw text not null,
  signatures text not null, forced text
);
`;

const CACHED_KEYS = 200_000;

/** Where a transaction's texts lie in its block's. */
export interface Included {
  readonly txid: string;
  readonly bodyFrom: number;
  readonly bodyLength: number;
  readonly receiptFrom: number;
  readonly receiptLength: number;
  readonly forced: ForcedFailure | null;
}

/** A new block with everything it changes. */
export interface BlockCommit {
  readonly block: StoredBlock;
  /** The block's JSON, ASCII. */
  readonly body: Uint8Array;
  /** The JSON list of its receipts, ASCII. */
  readonly receipts: Uint8Array;
  readonly included: readonly Included[];
  /** Transactions that leave the pool, included or no longer includable. */
  readonly leavePool: readonly string[];
  readonly changes: Changes;
}

/** The chain's file. */
export class Store implements StateReader {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #cache = new Map<string, string | undefined>();
  #open = false;

  /**
   * Opens or creates the file.
   *
   * @throws when another process holds it, or it cannot be written
   */
  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    try {
      this.#db.exec("pragma locking_mode = exclusive; pragma busy_timeout = 2000");
      this.#db.exec("pragma journal_mode = wal; pragma synchronous = full");
      this.#db.exec("begin immediate");
      this.#db.exec(SCHEMA);
      this.#db.exec("commit");
    } catch (error) {
      this.#db.close();
      throw new Error(
        `Cannot open the development chain as its file is in use or broken: ${path}`,
        {
          cause: error,
        },
      );
    }
  }

  /**
   * Runs changes as one commit; all or none of them is on disk when this returns. Within another
   * one it joins that.
   */
  transaction<T>(work: () => T): T {
    if (this.#open) return work();
    this.#db.exec("begin immediate");
    this.#open = true;
    try {
      const result = work();
      this.#db.exec("commit");
      return result;
    } catch (error) {
      this.#db.exec("rollback");
      this.#cache.clear();
      throw error;
    } finally {
      this.#open = false;
    }
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  /** A setting of the chain's own. */
  meta(key: string): string | undefined {
    return textOf(this.#get("select value from meta where key = ?", key)?.["value"]);
  }

  /** Stores a setting. */
  setMeta(key: string, value: string): void {
    this.#run(
      "insert into meta values (?, ?) on conflict do update set value = excluded.value",
      key,
      value,
    );
  }

  get(key: string): string | undefined {
    if (this.#cache.has(key)) return this.#cache.get(key);
    const value = textOf(this.#get("select value from state where key = ?", key)?.["value"]);
    this.#remember(key, value);
    return value;
  }

  /** Adds a waiting transaction. */
  addPending(pending: StoredPending): void {
    this.#run(
      "insert into pool (txid, raw, signatures, forced) values (?, ?, ?, ?)",
      pending.txid,
      pending.raw,
      pending.signatures.join(","),
      pending.forced,
    );
  }

  /** Removes a waiting transaction. */
  removePending(txid: string): void {
    this.#run("delete from pool where txid = ?", txid);
  }

  /** All waiting transactions in the order they came. */
  pending(): StoredPending[] {
    const sql = "select txid, raw, signatures, forced from pool order by seq";
    return this.#all(sql).map(pendingOf);
  }

  /** Adds a block; call within {@linkcode transaction}. */
  addBlock(commit: BlockCommit): void {
    const { block } = commit;
    const before = [...commit.changes.keys()].map((key) => [key, this.get(key) ?? null]);
    this.#run(
      "insert into block values (?, ?, ?, ?, ?, ?, ?)",
      block.height,
      block.id,
      block.parentId,
      block.time,
      block.transactions,
      commit.body,
      commit.receipts,
    );
    this.#run("insert into undo values (?, ?)", block.height, JSON.stringify(before));
    for (const entry of commit.included) {
      this.#run(
        "insert into included values (?, ?, ?, ?, ?, ?, ?)",
        entry.txid,
        block.height,
        entry.bodyFrom,
        entry.bodyLength,
        entry.receiptFrom,
        entry.receiptLength,
        entry.forced,
      );
    }
    for (const txid of commit.leavePool) this.#run("delete from pool where txid = ?", txid);
    for (const [key, value] of commit.changes) this.#setState(key, value);
  }

  /**
   * Removes the head block and restores the state before it; call within {@linkcode transaction}.
   *
   * @returns the block's JSON and which of its transactions were forced to fail
   */
  removeBlock(height: number): { body: string; forced: ReadonlyMap<string, ForcedFailure> } {
    const body = this.body(height);
    const undo = this.undo(height);
    if (body === null || undo === null) {
      throw new RangeError(`Cannot remove a block as it is not stored or final: ${height}`);
    }
    const forced = new Map<string, ForcedFailure>();
    for (const row of this.#all("select txid, forced from included where height = ?", height)) {
      const failure = forcedOf(row["forced"]);
      if (failure !== null) forced.set(String(row["txid"]), failure);
    }
    for (const [key, value] of undo) this.#setState(key, value);
    this.#run("delete from included where height = ?", height);
    this.#run("delete from undo where height = ?", height);
    this.#run("delete from block where height = ?", height);
    return { body: new TextDecoder().decode(body), forced };
  }

  /** What the keys that a block changed held before it; null once the block is final. */
  undo(height: number): Changes | null {
    const text = textOf(
      this.#get("select changes from undo where height = ?", height)?.["changes"],
    );
    if (text === undefined) return null;
    const entries: [string, string | null][] = JSON.parse(text);
    return new Map(entries.map(([key, value]) => [key, value ?? undefined]));
  }

  /** Forgets how to remove blocks up to a height. */
  finalize(height: number): void {
    this.#run("delete from undo where height <= ?", height);
  }

  /** The newest block. */
  head(): StoredBlock | null {
    return blockOf(this.#get(`${BLOCK} order by height desc limit 1`));
  }

  /** The block at a height. */
  block(height: number): StoredBlock | null {
    return blockOf(this.#get(`${BLOCK} where height = ?`, height));
  }

  /** The block with an id. */
  blockById(id: string): StoredBlock | null {
    return blockOf(this.#get(`${BLOCK} where id = ?`, id));
  }

  /** A block's JSON. */
  body(height: number): Bytes | null {
    return bytesOf(this.#get("select body as bytes from block where height = ?", height));
  }

  /** A block's JSON without its transactions. */
  headerJson(height: number): Bytes | null {
    const sql = "select substr(body, 1, 2048) as bytes from block where height = ?";
    const start = bytesOf(this.#get(sql, height));
    if (start === null) return null;
    const text = new TextDecoder().decode(start);
    const cut = text.indexOf(',"transactions":');
    return cut < 0 ? start : new TextEncoder().encode(text.slice(0, cut) + "}");
  }

  /** The JSON list of a block's receipts. */
  receipts(height: number): Bytes | null {
    return bytesOf(this.#get("select receipts as bytes from block where height = ?", height));
  }

  /** The height of the block that holds a transaction. */
  heightOf(txid: string): number | null {
    const row = this.#get("select height from included where txid = ?", txid);
    return row === undefined ? null : Number(row["height"]);
  }

  /** An included transaction's JSON. */
  transactionJson(txid: string): Bytes | null {
    return bytesOf(this.#get(
      `select substr(body, body_from + 1, body_length) as bytes
       from included join block using (height) where txid = ?`,
      txid,
    ));
  }

  /** An included transaction's receipt as JSON. */
  receiptJson(txid: string): Bytes | null {
    return bytesOf(this.#get(
      `select substr(receipts, receipt_from + 1, receipt_length) as bytes
       from included join block using (height) where txid = ?`,
      txid,
    ));
  }

  /** Number of transactions ever included and not dropped again. */
  transactionCount(): number {
    return Number(this.#get("select count(*) as n from included")?.["n"] ?? 0);
  }

  #setState(key: string, value: string | undefined): void {
    if (value === undefined) this.#run("delete from state where key = ?", key);
    else {
      this.#run(
        "insert into state values (?, ?) on conflict do update set value = excluded.value",
        key,
        value,
      );
    }
    this.#remember(key, value);
  }

  #remember(key: string, value: string | undefined): void {
    // Dropping everything is rare and cheap; the file's own cache is warm.
    if (this.#cache.size >= CACHED_KEYS) this.#cache.clear();
    this.#cache.set(key, value);
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #get(sql: string, ...values: SqlValue[]): Row | undefined {
    const row: unknown = this.#statement(sql).get(...values);
    return isRow(row) ? row : undefined;
  }

  #all(sql: string, ...values: SqlValue[]): Row[] {
    const rows: unknown[] = this.#statement(sql).all(...values);
    return rows.filter(isRow);
  }

  #run(sql: string, ...values: SqlValue[]): void {
    this.#statement(sql).run(...values);
  }
}

type SqlValue = string | number | null | Uint8Array;

const BLOCK = "select height, id, parent_id, time, transactions from block";
