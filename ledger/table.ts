/**
 * Rows on their way to and from PostgreSQL: a table is a list of columns in the order of its
 * migration, and rows are sent as one array literal of the table's row type. That is one parameter
 * per table and one round trip per batch, whatever the number of rows.
 *
 * @module
 */

import { type Amount, amountOf, formatAmount } from "./money/amount.ts";
import { Decimal } from "decimal.js";

/** The way in which a value of a column is written and read. */
type Encoding =
  | "text"
  | "integer"
  | "bigint"
  | "amount"
  | "rate"
  | "time"
  | "boolean"
  | "json"
  | "texts";

/** The kind of a column; `V` is what a row holds in it. */
export interface Kind<V> {
  readonly encoding: Encoding;
  /** Carries the type alone: no value of it exists. */
  readonly value?: V;
}

export const text = <T extends string | null = string>(): Kind<NoInfer<T>> => ({
  encoding: "text",
});
export const integer = (): Kind<number> => ({ encoding: "integer" });
export const bigint = (): Kind<number> => ({ encoding: "bigint" });
export const amount = (): Kind<Amount> => ({ encoding: "amount" });
export const rate = (): Kind<string> => ({ encoding: "rate" });
/** Unix milliseconds. */
export const time = <T extends number | null = number>(): Kind<NoInfer<T>> => ({
  encoding: "time",
});
export const boolean = (): Kind<boolean> => ({ encoding: "boolean" });
export const json = <T>(): Kind<NoInfer<T>> => ({ encoding: "json" });
export const texts = (): Kind<readonly string[]> => ({ encoding: "texts" });
/** A column that may be null. */
export const orNull = <V>({ encoding }: Kind<V>): Kind<V | null> => ({ encoding });

/** Columns by the field of a row that holds them, in the order of their migration. */
export type Columns = Readonly<Record<string, Kind<unknown>>>;

/** The row that columns make. */
export type RowOfColumns<C extends Columns> = {
  readonly [F in keyof C]: C[F] extends Kind<infer V> ? V : never;
};

/** The row of a table. */
export type RowOf<T extends { decode(row: never): unknown }> = ReturnType<T["decode"]>;

/** One column: field of the row object, name and encoding in the database. */
export interface Column<R> {
  readonly field: keyof R & string;
  readonly name: string;
  readonly encoding: Encoding;
}

/** A table or composite type of the database. */
export interface Table<R> {
  readonly name: string;
  /** The composite type of its rows. */
  readonly rowType: string;
  readonly columns: readonly Column<R>[];
  /** The array literal of the rows, for a parameter of type `rowType[]`. */
  encode(rows: readonly R[]): string;
  /** Reads a row selected with `SELECT *`. */
  decode(row: Readonly<Record<string, unknown>>): R;
}

/** A table whose rows are written as `<name>_row`. */
export function table<C extends Columns>(name: string, columns: C): Table<RowOfColumns<C>> {
  return typed(name, `${name}_row`, columns);
}

/** A composite type that is no table's row. */
export function composite<C extends Columns>(name: string, columns: C): Table<RowOfColumns<C>> {
  return typed(name, name, columns);
}

function typed<C extends Columns>(
  name: string,
  rowType: string,
  columns: C,
): Table<RowOfColumns<C>> {
  type Row = RowOfColumns<C>;
  const list = (Object.entries(columns) as [keyof Row & string, Kind<unknown>][]).map(
    ([field, { encoding }]): Column<Row> => ({ field, name: snakeCase(field), encoding }),
  );
  const encoders = list.map((column) => encoderOf(column.encoding));
  return {
    name,
    rowType,
    columns: list,
    encode: (rows) => encodeRows(list, encoders, rows),
    decode: (row) => decodeRow(name, list, row),
  };
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const NEEDS_QUOTES = /["\\(),\s]/;
const NEEDS_ESCAPE = /["\\]/;

function escape(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/["\\]/g, "\\$&") : text;
}

/**
 * The text of a value within a record within an array literal: quoted where it has to be, and
 * escaped for both in one pass. Texts of events are long and full of quotes: in two passes they were
 * a tenth of what a deposit costs.
 */
type Encode = (value: unknown) => string;

function encodeRows<R>(
  columns: readonly Column<R>[],
  encoders: readonly Encode[],
  rows: readonly R[],
): string {
  let out = "{";
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r] as R;
    let record = "(";
    for (let c = 0; c < columns.length; c++) {
      const value = row[(columns[c] as Column<R>).field];
      if (c > 0) record += ",";
      if (value !== null) record += (encoders[c] as Encode)(value);
    }
    out += `${r > 0 ? "," : ""}"${record})"`;
  }
  return out + "}";
}

function quote(text: string): string {
  if (text === "") return '\\"\\"';
  if (!NEEDS_QUOTES.test(text)) return text;
  const slashes = text.includes("\\") ? text.replaceAll("\\", "\\\\\\\\") : text;
  return `\\"${slashes.replaceAll('"', '\\\\\\"')}\\"`;
}

/** Rows of a batch repeat most of their texts, fees and times: the same again costs only a comparison. */
function remembering(encode: Encode): Encode {
  let last: unknown = undefined;
  let text = "";
  return (value) => {
    if (value !== last) {
      text = encode(value);
      last = value;
    }
    return text;
  };
}

function encoderOf(encoding: Encoding): Encode {
  switch (encoding) {
    case "amount":
      return remembering((value) => formatAmount(value as Amount));
    case "time":
      return remembering((value) => new Date(value as number).toISOString());
    case "boolean":
      return (value) => value === true ? "t" : "f";
    case "json":
      return (value) => quote(JSON.stringify(value));
    case "texts":
      return (value) =>
        quote(`{${(value as readonly string[]).map((text) => `"${escape(text)}"`).join(",")}}`);
    case "integer":
    case "bigint":
      return String;
    case "rate":
    case "text":
      return remembering((value) => quote(String(value)));
    default: {
      const never: never = encoding;
      return never;
    }
  }
}

function decodeRow<R>(
  name: string,
  columns: readonly Column<R>[],
  row: Readonly<Record<string, unknown>>,
): R {
  const out: Record<string, unknown> = {};
  for (const column of columns) {
    const value = row[column.name];
    if (value === undefined) {
      throw new TypeError(`Cannot read a row of ${name} as a column is missing: ${column.name}`);
    }
    out[column.field] = value === null ? null : decodeValue(column.encoding, value);
  }
  return out as R;
}

function decodeValue(encoding: Encoding, value: unknown): unknown {
  switch (encoding) {
    case "amount":
      return amountOf(trimZeros(value as string));
    case "rate":
      return new Decimal(value as string).toFixed();
    case "time":
      return value instanceof Date ? value.getTime() : Date.parse(value as string);
    case "integer":
    case "bigint":
      return Number(value);
    case "text":
    case "boolean":
    case "json":
    case "texts":
      return value;
    default: {
      const never: never = encoding;
      return never;
    }
  }
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
