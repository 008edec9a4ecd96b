/**
 * Errors as the API reference documents them, made from the table of errors: the examples are the
 * service's own answers, so that text, status and fields cannot differ from what it says.
 *
 * @module
 */

import { z } from "zod";
import type { ErrorRow } from "../../actors/merchant/refusal.ts";
import type { Answer } from "../http/answer.ts";
import { type ErrorCode, ERRORS, publishedCode } from "../http/error_table.ts";
import { exampleAnswer } from "../http/errors.ts";
import { feeInfoSchema } from "../http/fee_info.ts";
import * as f from "../http/fields.ts";
import type { Route } from "../http/route.ts";

export interface ErrorDoc {
  /** Name of its schema without `Error`, for example `InsufficientBalance`. */
  readonly name: string;
  /** Its cause. */
  readonly description: string;
  readonly schema: z.ZodType;
  /** The answer itself, as the service gives it. */
  readonly example: Answer;
}

const detail = z.object({
  path: z.array(z.string()).meta({ description: "Where; empty for the request as a whole" }),
  message: z.string(),
  code: z.string().meta({ examples: ["invalid_enum_value"] }),
}).meta({ id: "ErrorDetail" });

const allowance = z.object({
  limit: z.int().meta({ description: "Requests per minute" }),
  remaining: z.int(),
  reset: z.int().meta({ description: "Unix time in seconds" }),
});

/** Schemas of the fields that bodies of errors have besides `error` and `message`. */
const FIELDS: Readonly<Record<string, z.ZodType>> = {
  details: z.array(detail),
  from: z.string(),
  to: z.string(),
  minWithdrawal: f.decimal,
  available: f.decimal,
  requested: f.decimal.meta({ description: "The whole debit" }),
  currency: f.currency,
  network: f.network,
  fees: feeInfoSchema,
  id: z.string(),
  withdrawalId: f.id("wd"),
  settlementId: f.id("stl"),
  depositId: f.id("dep"),
  merchantId: f.id("mer"),
  addressId: f.id("adr"),
};

function errorDoc(code: ErrorCode): ErrorDoc {
  const row: ErrorRow = ERRORS[code];
  const { name, cause: description } = row;
  return { name, description, schema: schemaOf(code, row), example: exampleAnswer(code) };
}

const SCHEMAS = new Map<ErrorCode, z.ZodType>();

/** The schema of a body. Where a field is at fault, it is that of every malformed request. */
function schemaOf(code: ErrorCode, row: ErrorRow): z.ZodType {
  if (row.field !== undefined) return schemaOf("invalid_request", ERRORS.invalid_request);
  const known = SCHEMAS.get(code);
  if (known !== undefined) return known;
  const { name, cause: description, message, shows = [], mayShow = [] } = row;
  const schema = z.object({
    error: textOf(row.error),
    code: codeOf(code, row),
    ...(message === undefined ? {} : { message: z.string() }),
    ...Object.fromEntries(shows.map((fact) => [nameOf(fact), fieldOf(code, fact)])),
    ...Object.fromEntries(mayShow.map((fact) => [nameOf(fact), fieldOf(code, fact).optional()])),
  }).meta({ id: `${name}Error`, description });
  SCHEMAS.set(code, schema);
  return schema;
}

/** Every code of an error, one schema. */
export const errorCode = z.enum(Object.values(ERRORS).map(publishedCode)).meta({
  id: "ErrorCode",
  description: "The error in one word, for programs: it stays the same when a text changes",
});

/** The code of an error. A malformed request may be one of those that name the field at fault. */
function codeOf(code: ErrorCode, row: ErrorRow): z.ZodType {
  if (code !== "invalid_request") return z.literal(publishedCode(row));
  const rows = Object.values<ErrorRow>(ERRORS).filter(({ field }) => field !== undefined);
  return z.enum([row, ...rows].map(publishedCode));
}

/** A text, or a pattern of it where it names facts. */
function textOf(text: string): z.ZodType {
  const fixed = text.split(/\{\w+\}/);
  if (fixed.length === 1) return z.literal(text);
  return z.string().regex(new RegExp(`^${fixed.join("\\w+")}$`));
}

function nameOf(fact: string): string {
  return fact === "fees" ? "feeInfo" : fact;
}

function fieldOf(code: ErrorCode, fact: string): z.ZodType {
  const field = code === "rate_limit_exceeded" && fact === "details" ? allowance : FIELDS[fact];
  if (field === undefined) {
    throw new TypeError(`Cannot document an error as a field has no schema: ${code}, ${fact}`);
  }
  return field;
}

/** Every error of a route: those that it names, and those of every route of its kind. */
export function errorsOf(route: Route): readonly ErrorDoc[] {
  return [...sharedErrors(route), ...route.errors].map(errorDoc);
}

function sharedErrors(route: Route): readonly ErrorCode[] {
  if (route.path.startsWith("/api/docs") || route.rateCategory === "health") {
    return ["invalid_request", "rate_limit_exceeded", "internal"];
  }
  const isKeyed = route.access.scope !== "public";
  const isChange = isKeyed && route.method !== "GET";
  const isLimited = isKeyed || route.rateCategory !== "none";
  return [
    "invalid_request",
    ...(isKeyed ? ["authentication_required", "unauthorized", route.forbidden] as const : []),
    ...(route.needsActiveMerchant ? ["merchant_not_active"] as const : []),
    ...(isLimited ? ["rate_limit_exceeded"] as const : []),
    ...(route.body === null ? [] : ["body_too_large", "unsupported_media_type"] as const),
    "internal",
    ...(isChange ? ["outcome_unknown"] as const : []),
    "unavailable",
  ];
}
