/**
 * Plain prepared INSERT statements with one parameter per value.
 *
 * @module
 */

import { type Amount, formatAmount } from "../../../ledger/money/amount.ts";
import type { Column, Table } from "../../../ledger/table.ts";

/** A value as the driver takes it. */
export type Parameter = string | number | Date | null;

/** The part of a table that a statement's text needs. */
type Named = { readonly name: string; readonly columns: readonly { readonly name: string }[] };

const texts = new Map<string, string>();

/**
 * One statement that inserts so many rows into each table; tables without rows are left out.
 *
 * @returns the text, the same object for the same shape
 */
export function insertText(...parts: readonly (readonly [Named, number])[]): string {
  const shape = parts.map(([table, rows]) => `${table.name}:${rows}`).join();
  const known = texts.get(shape);
  if (known !== undefined) return known;
  let parameter = 0;
  const inserts = parts.filter(([, rows]) => rows > 0).map(([table, rows]) => {
    const row = () => `(${table.columns.map(() => `$${++parameter}`).join()})`;
    const columns = table.columns.map((column) => column.name).join();
    return `INSERT INTO ${table.name} (${columns}) VALUES ${Array.from({ length: rows }, row)}`;
  });
  const last = inserts.pop() ?? "SELECT";
  const text = inserts.length === 0
    ? last
    : `WITH ${inserts.map((insert, i) => `i${i} AS (${insert})`).join()} ${last}`;
  texts.set(shape, text);
  return text;
}

/** The rows' values in the order of {@linkcode insertText}. */
export function parametersOf<R>(table: Table<R>, rows: readonly R[]): Parameter[] {
  return rows.flatMap((row) => table.columns.map((column) => parameterOf(column, row)));
}

function parameterOf<R>(column: Column<R>, row: R): Parameter {
  const value: unknown = row[column.field];
  if (value === null) return null;
  switch (column.encoding) {
    case "amount":
      return formatAmount(value as Amount);
    case "time":
      return new Date(value as number);
    case "text":
    case "rate":
    case "integer":
    case "bigint":
      return value as string | number;
    case "boolean":
    case "json":
    case "texts":
      throw new TypeError(`Cannot insert a column as no withdrawal has one: ${column.name}`);
    default: {
      const never: never = column.encoding;
      return never;
    }
  }
}
