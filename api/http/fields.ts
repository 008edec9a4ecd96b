/**
 * The vocabulary of requests and answers: fields that the schemas of several endpoints share.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, LARGEST_PAYMENT, negate, parseAmount } from "../../ledger/money/amount.ts";
import { parseRate, type Rate } from "../../ledger/money/fees.ts";
import { CURRENCIES, NETWORKS } from "../../ledger/money/pair.ts";
import { isFiat } from "../../rates/source.ts";
import { eg } from "./example.ts";

export const currency = eg(z.enum(CURRENCIES), "USDT").meta({
  id: "Currency",
  description: "Token",
});

export const network = eg(z.enum(NETWORKS), "TRX").meta({
  id: "NetworkSymbol",
  description: "Network; the second half are test networks",
});

const SIGNED_AMOUNT = /^-?\d{1,20}(?:\.\d{1,18})?$/;

/** A decimal string that may carry a minus, so that its own error can be given. */
export const signedAmount = z.string().regex(SIGNED_AMOUNT, {
  message: "Expected a decimal string with at most 20 digits before and 18 after the point",
}).meta({
  description: "Decimal string, exact in the token's decimals on its network",
  examples: ["10.5"],
}).transform((text): Amount => {
  const isNegative = text.startsWith("-");
  const magnitude = parseAmount(isNegative ? text.slice(1) : text);
  if (magnitude === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return isNegative ? negate(magnitude) : magnitude;
});

/** A decimal string that is not negative. */
const amount = z.string().regex(/^\d{1,20}(?:\.\d{1,18})?$/, {
  message: "Expected a decimal string with at most 20 digits before and 18 after the point",
}).meta({ description: "Decimal string", examples: ["10.5"] }).transform((text): Amount => {
  const parsed = parseAmount(text);
  if (parsed === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return parsed;
});

function isPayable(value: Amount): boolean {
  return value <= LARGEST_PAYMENT;
}

const TOO_LARGE = { message: "Expected at most 1000000000000" };

/** A fee or a limit that is set: it goes into sums, which need room. */
export const boundedAmount = amount.refine(isPayable, TOO_LARGE);

export const positiveAmount = amount.refine((value) => value > 0n, {
  message: "Expected an amount above zero",
});

/** The same for a limit that is set. */
export const boundedPositiveAmount = positiveAmount.refine(isPayable, TOO_LARGE);

const NO_FIAT = { message: "Expected a 3-letter currency code of ISO 4217, for example EUR" };

/** The money of a state, by its code of ISO 4217; whether a rate of it is known is another question. */
export const fiatCode = z.string().regex(/^[A-Z]{3}$/, NO_FIAT).refine(isFiat, NO_FIAT);

/** A fraction from 0 to 1 as a decimal string. */
export const rate = z.string().meta({
  description: "Decimal fraction from 0 to 1: `0.01` is one per cent",
  examples: ["0.01"],
}).transform((text, context): Rate => {
  const parsed = parseRate(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: "custom", message: "Expected a decimal fraction from 0 to 1" });
  return z.NEVER;
});

/** 1 to 128 printable characters. */
export const referenceId = z.string().regex(/^[^\p{C}]{1,128}$/u, {
  message: "Expected 1 to 128 printable characters",
}).meta({ description: "Your reference", examples: ["order-1001"] });

/** Controls, and what turns or breaks lines: a terminal would do as they say. */
const NO_CONTROLS = /^[^\p{Cc}\u2028-\u202e\u2066-\u2069]*$/u;

/** A name that people give, on one line; spaces at its ends are cut off. */
export function nameOf(longest: number) {
  return z.string().trim().min(1).max(longest).regex(NO_CONTROLS, {
    message: "Expected no control characters",
  });
}

/** Free text that people read. */
export const description = z.string().max(1_000).meta({ examples: ["Payout of order 1001"] });

/** An address on some chain; its network's adapter knows whether it is one. */
export const onChainAddress = z.string().min(1).max(128).meta({
  description: "Address on the network",
  examples: ["TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"],
});

/**
 * An end customer's identifier: of any script, but nothing that breaks a line or turns the direction
 * of what follows, by which two that differ could look the same to an operator. It is compared and
 * given back code point by code point: to normalize it could make one customer of two.
 */
export const identifier = z.string().regex(
  /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,128}$/u,
  { message: "Expected 1 to 128 characters without control characters" },
).meta({
  description: "Your name for your end customer, in any script",
  examples: ["customer-7"],
});

function count(most: number, expected: string, documented: object) {
  return z.string().regex(/^[1-9]\d{0,8}$/, { message: expected }).transform(Number)
    .refine((value) => value <= most, { message: expected }).meta({ documented });
}

export const page = count(999_999_999, "Expected a whole number from 1", {
  type: "integer",
  minimum: 1,
  description: "Page number",
});

export const limit = count(100, "Expected a whole number from 1 to 100", {
  type: "integer",
  minimum: 1,
  maximum: 100,
  description: "Rows per page",
});

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

const DATE_TIME = /^(.+T\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}(?::\d{2})?)?$/;

/** Writes out what ISO 8601 lets a date-time leave out: seconds, and the offset, which is UTC's. */
function inFull(text: string): string {
  return text.replace(
    DATE_TIME,
    (_, minutes: string, seconds = ":00", offset = "Z") =>
      `${minutes}${seconds}${offset.length === 3 ? `${offset}:00` : offset}`,
  );
}

/** Years beyond these are no dates to the database, at least not in every offset. */
const [EARLIEST, LATEST] = [Date.UTC(1970), Date.UTC(9999)];

/** True for a time that can be stored and compared whatever is added to it. */
export function isStorableTime(ms: number): boolean {
  return ms >= EARLIEST && ms < LATEST;
}

const isoDate = z.union([
  z.iso.date(),
  z.string().transform(inFull).pipe(z.iso.datetime({ offset: true })),
], { message: "Expected an ISO 8601 date or date-time" }).refine(
  (text) => isStorableTime(Date.parse(text)),
  { message: "Expected a year from 1970 to 9998" },
);

/** As clients may write it; the schema above also knows which days there are. */
const DOCUMENTED_DATE_TIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}` +
  String.raw`(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:\d{2})?)?$`;

function documentedDate(description: string) {
  return {
    documented: {
      anyOf: [
        { type: "string", format: "date" },
        { type: "string", pattern: DOCUMENTED_DATE_TIME },
      ],
      description: `${description}. A date-time without an offset is in UTC`,
      examples: ["2026-08-13", "2026-08-13T09:30:00Z"],
    },
  };
}

/** Start of a range: Unix milliseconds, included. */
export const startDate = isoDate.transform((text) => Date.parse(text))
  .meta(documentedDate("Start of the range, included"));

/** End of a range: Unix milliseconds, excluded; a date without a time includes that day. */
export const endDate = isoDate.transform((text) =>
  DATE_ONLY.test(text) ? Date.parse(text) + DAY_MS : Date.parse(text) + 1
).meta(documentedDate("End of the range, included; a date without a time includes that day"));

/** A canonical decimal string: no exponent, no zeros at the end, no bare point. */
export const decimal = z.string().regex(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/).brand("amount").meta({
  id: "Decimal",
  description: "Decimal string without exponent and without trailing zeros",
  examples: ["12.5"],
});

/** A canonical decimal string that may be negative. */
export const signedDecimal = z.string().regex(
  /^(?:0|-?(?:[1-9]\d*(?:\.\d*[1-9])?|0\.\d*[1-9]))$/,
).brand("amount").meta({
  description: "Decimal string, negative for money out",
  examples: ["-12.5"],
});

/** A decimal string with exactly eight places. */
export const eightPlaces = z.string().regex(/^(?:0|[1-9]\d*)\.\d{8}$/).meta({
  description: "Decimal string with 8 places, rounded up",
  examples: ["10.00000000"],
});

export const fraction = z.string().regex(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/).meta({
  description: "Decimal fraction: `0.01` is one per cent",
  examples: ["0.01"],
});

const TIME = "2026-08-13T09:30:00.000Z";

/** An instant in UTC. */
export const timestamp = eg(
  z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/).brand("instant"),
  TIME,
).meta({ id: "Timestamp", format: "date-time", description: "ISO 8601 in UTC", examples: [TIME] });

/** An instant that is shown as the database keeps it. */
export const moment = z.string().brand("instant").meta({ format: "date-time" });

/** A timestamp in an example where something has happened since. */
export const later = eg(timestamp, "2026-08-13T09:30:04.000Z");

/** An instant at UTC+8. */
export const timestampGmt8 = eg(
  z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+08:00$/),
  "2026-08-13T17:30:00.000+08:00",
).meta({
  format: "date-time",
  description: "The same instant at UTC+8",
  examples: ["2026-08-13T17:30:00.000+08:00"],
});

/** An id; opaque to clients. */
export function id(prefix: string) {
  return eg(z.string().min(1), exampleId(prefix)).meta({ examples: [exampleId(prefix)] });
}

export function exampleId(prefix: string): string {
  return `${prefix}_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41`;
}

/** The key that asked for a record. */
export const madeBy = eg(z.string().nullable(), exampleId("key")).meta({
  description: "Id of the key that asked for it; null: no key did",
  examples: [exampleId("key")],
});

export const ADDRESS = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";

export const address = eg(z.string().min(1), ADDRESS).meta({
  description: "Address on the network",
  examples: [ADDRESS],
});

export const TX_HASH = "4f0c8d27a1b93e65f8c2d4706b1a9e5382d7c6f0415b3a8e9d2c7f6051b4a3e8";

export const txHash = eg(z.string().min(1), TX_HASH).meta({
  description: "Transaction id on the network",
  examples: [TX_HASH],
});
