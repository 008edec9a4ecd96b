/**
 * What the rows of the chain's file are read as. SQLite has types per value, not per column, so
 * every value is looked at.
 *
 * @module
 */

import type { ForcedFailure } from "./execute.ts";

/** A row as the file gives it. */
export type Row = Record<string, unknown>;

/** Bytes as they are read from the file. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** A block as it is stored. */
export interface StoredBlock {
  readonly height: number;
  readonly id: string;
  readonly parentId: string;
  readonly time: number;
  readonly transactions: number;
}

/** A waiting transaction as it is stored. */
export interface StoredPending {
  readonly txid: string;
  readonly raw: string;
  readonly signatures: readonly string[];
  readonly forced: ForcedFailure | null;
}

/** True if the file gave a row. */
export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null;
}

/** A block; `null` where there is none. */
export function blockOf(row: Row | undefined): StoredBlock | null {
  if (row === undefined) return null;
  return {
    height: Number(row["height"]),
    id: String(row["id"]),
    parentId: String(row["parent_id"]),
    time: Number(row["time"]),
    transactions: Number(row["transactions"]),
  };
}

/** A waiting transaction. */
export function pendingOf(row: Row): StoredPending {
  return {
    txid: String(row["txid"]),
    raw: String(row["raw"]),
    signatures: String(row["signatures"]).split(","),
    forced: forcedOf(row["forced"]),
  };
}

/** The bytes of a row that was asked for them; `null` where there is none. */
export function bytesOf(row: Row | undefined): Bytes | null {
  const bytes = row?.["bytes"];
  return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : null;
}

/** A text; `undefined` where there is none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The failure that a transaction is forced to; `null` where it takes its course. */
export function forcedOf(value: unknown): ForcedFailure | null {
  return value === "REVERT" || value === "OUT_OF_ENERGY" ? value : null;
}
