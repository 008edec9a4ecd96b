/**
 * Formats of values in responses, and the `pagination` of lists.
 *
 * @module
 */

import { z } from "zod";
import type { PageRequest } from "../../ledger/lists/list_page.ts";
import { currency, network } from "./fields.ts";

/** The `pagination` object: `pages` is 0 when there is nothing. */
export function pagination(request: PageRequest, total: number) {
  const { page, limit } = request;
  return { total, page, limit, pages: Math.ceil(total / limit) };
}

/** A canonical decimal string: no exponent, no zeros at the end, no bare point. */
export const decimal = z.string().regex(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/).meta({
  id: "Decimal",
  description: "Decimal string without exponent and without trailing zeros",
  examples: ["12.5"],
});

/** A canonical decimal string that may be negative. */
export const signedDecimal = z.string().regex(
  /^(?:0|-?(?:[1-9]\d*(?:\.\d*[1-9])?|0\.\d*[1-9]))$/,
).meta({
  description: "Decimal string, negative for money out",
  examples: ["-12.5"],
});

/** A decimal string with exactly eight places. */
export const eightPlaces = z.string().regex(/^(?:0|[1-9]\d*)\.\d{8}$/).meta({
  description: "Decimal string with 8 places, rounded up",
  examples: ["10.00000000"],
});

/** A decimal fraction. */
export const fraction = z.string().regex(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/).meta({
  description: "Decimal fraction: `0.01` is one per cent",
  examples: ["0.01"],
});

/** An instant in UTC. */
export const timestamp = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/).meta({
  id: "Timestamp",
  format: "date-time",
  description: "ISO 8601 in UTC",
  examples: ["2026-08-13T09:30:00.000Z"],
});

/** An instant at UTC+8. */
export const timestampGmt8 = z.string().regex(
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+08:00$/,
).meta({
  format: "date-time",
  description: "The same instant at UTC+8",
  examples: ["2026-08-13T17:30:00.000+08:00"],
});

/** A currency. */
export const shownCurrency = currency;

/** A network. */
export const shownNetwork = network;

const UUID = "0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41";

/** An id; opaque to clients. */
export function id(prefix: string) {
  return z.string().min(1).meta({ examples: [exampleId(prefix)] });
}

/** The id that examples show. */
export function exampleId(prefix: string): string {
  return `${prefix}_${UUID}`;
}

/** The key that asked for a record. */
export const madeBy = z.string().nullable().meta({
  description: "Id of the key that asked for it; null: no key did",
  examples: [exampleId("key")],
});

/** An on-chain address. */
export const address = z.string().min(1).meta({
  description: "Address on the network",
  examples: ["TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"],
});

/** A transaction id on a chain. */
export const txHash = z.string().min(1).meta({
  description: "Transaction id on the network",
  examples: ["4f0c8d27a1b93e65f8c2d4706b1a9e5382d7c6f0415b3a8e9d2c7f6051b4a3e8"],
});

/** The `pagination` object of page-based lists. */
export const paginationSchema = z.object({
  total: z.int().min(0).meta({ description: "Rows that match" }),
  page: z.int().min(1),
  limit: z.int().min(1),
  pages: z.int().min(0).meta({ description: "0 when there is nothing" }),
}).meta({ id: "Pagination" });

/** Pagination of an example with one row. */
export function onePage(limit: number) {
  return { total: 1, page: 1, limit, pages: 1 };
}

/** Values that every example shares. */
export const EXAMPLE = {
  address: "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
  txHash: "4f0c8d27a1b93e65f8c2d4706b1a9e5382d7c6f0415b3a8e9d2c7f6051b4a3e8",
  time: "2026-08-13T09:30:00.000Z",
  later: "2026-08-13T09:30:04.000Z",
} as const;
