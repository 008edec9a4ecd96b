/**
 * Pieces that the schemas of several endpoints share.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, negate, parseAmount } from "../ledger/amount.ts";
import { parseRate, type Rate } from "../ledger/fees.ts";
import { CURRENCIES, NETWORKS } from "../ledger/pair.ts";

/** `USDT` or `USDC`. */
export const currency = z.enum(CURRENCIES);

/** A NetworkSymbol. */
export const network = z.enum(NETWORKS);

const SIGNED_AMOUNT = /^-?\d{1,20}(?:\.\d{1,18})?$/;

/** A decimal string that may carry a minus, so that its own error can be given. */
export const signedAmount = z.string().regex(SIGNED_AMOUNT, {
  message: "Expected a decimal string with at most 20 digits before and 18 after the point",
}).transform((text): Amount => {
  const isNegative = text.startsWith("-");
  const magnitude = parseAmount(isNegative ? text.slice(1) : text);
  if (magnitude === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return isNegative ? negate(magnitude) : magnitude;
});

/** A decimal string that is not negative. */
export const amount = z.string().regex(/^\d{1,20}(?:\.\d{1,18})?$/, {
  message: "Expected a decimal string with at most 20 digits before and 18 after the point",
}).transform((text): Amount => {
  const parsed = parseAmount(text);
  if (parsed === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return parsed;
});

/** A decimal string above zero. */
export const positiveAmount = amount.refine((value) => value > 0n, {
  message: "Expected an amount above zero",
});

/** Three capital letters that stand for the money of a state. */
export const fiatCode = z.string().regex(/^[A-Z]{3}$/, {
  message: "Expected a 3-letter currency code, for example EUR",
});

/** A fraction from 0 to 1 as a decimal string. */
export const rate = z.string().transform((text, context): Rate => {
  const parsed = parseRate(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: "custom", message: "Expected a decimal fraction from 0 to 1" });
  return z.NEVER;
});

/** 1 to 128 printable characters. */
export const referenceId = z.string().regex(/^[^\p{C}]{1,128}$/u, {
  message: "Expected 1 to 128 printable characters",
});

/** Free text that people read. */
export const description = z.string().max(1_000);

/** An end customer's identifier. */
export const identifier = z.string().regex(/^[A-Za-z0-9._:@-]{1,128}$/, {
  message: "Expected 1 to 128 characters of A-Z a-z 0-9 . _ : @ -",
});

function count(most: number, expected: string) {
  return z.string().regex(/^[1-9]\d{0,8}$/, { message: expected }).transform(Number)
    .refine((value) => value <= most, { message: expected });
}

/** Page number of a list, from 1. */
export const page = count(999_999_999, "Expected a whole number from 1");

/** Rows per page. */
export const limit = count(100, "Expected a whole number from 1 to 100");

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

const isoDate = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  message: "Expected an ISO 8601 date or date-time with offset",
});

/** Start of a range: Unix milliseconds, included. */
export const startDate = isoDate.transform((text) => Date.parse(text));

/** End of a range: Unix milliseconds, excluded; a date without a time includes that day. */
export const endDate = isoDate.transform((text) =>
  DATE_ONLY.test(text) ? Date.parse(text) + DAY_MS : Date.parse(text) + 1
);
