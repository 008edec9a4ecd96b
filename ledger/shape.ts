/**
 * Rows that a query returns and rows that one is given: a shape lists their fields once, and type,
 * decoding and parameters follow from it. Columns are the fields in snake case.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { AnySql } from "./database/connect.ts";
import { type Amount, formatAmount } from "./money/amount.ts";
import { type Column, type Columns, composite, type RowOfColumns } from "./table.ts";

/** Rows as the database answers them. */
type Answered = readonly Readonly<Record<string, unknown>>[];

/** Rows of one shape. */
export interface Shape<R> {
  /** Reads a row, a column for each field. */
  decode(row: Readonly<Record<string, unknown>>): R;
  all(rows: Answered): readonly R[];
  /** Reads the first row; null where there is none. */
  first(rows: Answered): R | null;
  /** `unnest(...) AS alias (columns)`: rows as a table of a statement, one parameter per column. */
  rows(sql: AnySql, alias: string, rows: readonly { readonly [F in keyof R]?: R[F] }[]): Fragment;
}

/** The shape that fields make. */
export function shape<C extends Columns>(fields: C): Shape<RowOfColumns<C>> {
  const { decode, columns } = composite("a query", fields);
  return {
    decode,
    all: (rows) => rows.map(decode),
    first: (rows) => rows[0] === undefined ? null : decode(rows[0]),
    rows(sql, alias, rows) {
      const lists = columns.map(({ field, encoding }, place) =>
        sql`${sql.unsafe(place === 0 ? "" : ",")} ${
          rows.map((row) => parameter(encoding, row[field]))
        }::${sql.unsafe(TYPES[encoding])}`
      );
      const names = columns.map(({ name }) => name).join(", ");
      return sql`unnest(${lists}) AS ${sql.unsafe(`${alias} (${names})`)}`;
    },
  };
}

type Encoding = Column<unknown>["encoding"];

const TYPES: Readonly<Record<Encoding, string>> = {
  text: "text[]",
  integer: "int[]",
  bigint: "bigint[]",
  amount: "numeric[]",
  rate: "numeric[]",
  time: "timestamptz[]",
  // sent as text: see `parameter`
  boolean: "text[]::boolean[]",
  json: "text[]::jsonb[]",
  texts: "text[]",
};

/** A value as an element of an array that PostgreSQL reads; a field that a row lacks is null. */
function parameter(encoding: Encoding, value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (encoding === "amount") return formatAmount(value as Amount);
  if (encoding === "time") return new Date(value as number).toISOString();
  if (encoding === "json") return JSON.stringify(value);
  if (encoding === "boolean") return String(value);
  return value as string | number;
}
