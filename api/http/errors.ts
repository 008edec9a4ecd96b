/**
 * Answers of errors, made from the rows of the table.
 *
 * @module
 */

import type { ErrorRow, Refusal } from "../../actors/merchant/refusal.ts";
import type { AskOutcome } from "../../actors/merchant/merchants.ts";
import { isAway } from "../../actors/runtime/is_away.ts";
import { isLocked } from "../../ledger/database/database_errors.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";
import type { Answer, Detail, ErrorBody } from "./answer.ts";
import { type ErrorCode, type ErrorFacts, ERRORS, publishedCode } from "./error_table.ts";
import { feeInfo } from "./fee_info.ts";

/** The answer of an error. */
export function errorAnswer<C extends ErrorCode>(code: C, facts: ErrorFacts<C>): Answer {
  return answerOf(ERRORS[code], facts);
}

/** An error as the reference shows it. */
export function exampleAnswer(code: ErrorCode): Answer {
  return answerOf(ERRORS[code], ERRORS[code].facts);
}

/** @param amountField how the request calls its amount */
function answerOf(row: ErrorRow, given: object, amountField = "amount"): Answer {
  const { status, error, message, field, shows = [], mayShow = [], retryAfterS } = row;
  const facts = new Map(Object.entries(given));
  const text = message === undefined ? undefined : filled(message, facts);
  const shown = [...shows, ...mayShow].filter((name) => facts.has(name));
  const body: ErrorBody = {
    error: filled(error, facts),
    code: publishedCode(row),
    ...(text === undefined ? {} : field === undefined ? { message: text } : {
      details: [{
        path: [field.path === "amount" ? amountField : field.path],
        message: text,
        code: field.code,
      }],
    }),
    ...Object.fromEntries(shown.map((name) => shownAs(name, facts.get(name)))),
  };
  const headers = {
    ...row.headers,
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
  };
  return Object.keys(headers).length === 0 ? { status, body } : { status, body, headers };
}

/** A text with its facts in place of their names. */
function filled(text: string, facts: ReadonlyMap<string, unknown>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (!facts.has(name)) throw new TypeError(`Cannot answer as a fact is missing: ${name}`);
    return String(facts.get(name));
  });
}

/** A fact as a field of the body. */
function shownAs(name: string, value: unknown): readonly [string, unknown] {
  if (name === "fees") return ["feeInfo", feeInfo(value as WithdrawalFees)];
  return [name, typeof value === "bigint" ? formatAmount(value as Amount) : value];
}

/** 400: the request's shape is wrong. */
export function invalidRequest(details: readonly Detail[]): Answer {
  return errorAnswer("invalid_request", { details });
}

/** 400 for one field. */
export function invalidField(path: string, message: string, code: string): Answer {
  return invalidRequest([{ path: path === "" ? [] : [path], message, code }]);
}

/** 400: the Host header names no host. */
export const malformedHost: Answer = invalidField(
  "host",
  "Expected a host in the Host header of HTTP/1.1",
  "malformed",
);

/** 422: well formed, but a rule over several fields or an outside check refuses it. */
export function validationFailed(path: string, message: string, code: string): Answer {
  return errorAnswer("validation_failed", { details: [{ path: [path], message, code }] });
}

/** 401 without a key. */
export const authenticationRequired = errorAnswer("authentication_required", {});

/** 401 with a key that is not accepted. */
export const unauthorized = errorAnswer("unauthorized", {});

/** 403: the key may not do this. */
export const forbidden = errorAnswer("forbidden", {});

/** 403: the account may not create payments. */
export const merchantNotActive = errorAnswer("merchant_not_active", {});

export const notFound = errorAnswer("record_not_found", {});

/** 405, naming what is allowed. */
export function methodNotAllowed(allowed: readonly string[]): Answer {
  const answer = errorAnswer("method_not_allowed", {});
  return { ...answer, headers: { allow: allowed.join(", ") } };
}

/** 409, with the cause in `message`. */
export function conflict(why: string): Answer {
  return errorAnswer("conflict", { why });
}

/**
 * 429: more requests than the published limit of their category.
 *
 * @param seconds until the window ends
 */
export function rateLimitExceeded(
  category: string,
  allowance: { readonly limit: number; readonly remaining: number; readonly endsAt: number },
  seconds: string,
): Answer {
  const { limit, remaining, endsAt } = allowance;
  const details = { limit, remaining, reset: Math.ceil(endsAt / 1_000) };
  const answer = errorAnswer("rate_limit_exceeded", { category, limit, seconds, details });
  return { ...answer, headers: { "retry-after": seconds } };
}

/** 500: a fault of the service; the log has it under the request id. */
export const internalError = errorAnswer("internal", {});

/** 503: nothing was done; ask again. */
export function unavailable(why: string): Answer {
  return errorAnswer("unavailable", { why });
}

/**
 * The answer where an actor refuses.
 *
 * @param amountField how the request calls its amount
 */
export function refused(refusal: Refusal, amountField?: string): Answer {
  return answerOf(ERRORS[refusal.code], refusal, amountField);
}

const REFUND_HELD =
  "The payout may have been paid already and is still being looked for on its chain, so its money is not given back yet. " +
  "Nothing was done; ask again in a few minutes.";

/**
 * The answer where an ask brought none.
 *
 * @param outcome every outcome but `done`
 * @param named the id that the record has if it exists after all, as `{withdrawalId: ...}`
 * @param amountField how the request calls its amount
 */
export function notDone<V>(
  outcome: Exclude<AskOutcome<V, Refusal>, { readonly kind: "done" }>,
  named: ErrorFacts<"outcome_unknown">,
  amountField?: string,
): Answer {
  switch (outcome.kind) {
    case "refused":
      return refused(outcome.refusal, amountField);
    case "overloaded":
      return unavailable("Too many requests are waiting for this account; nothing was done.");
    case "held":
      return unavailable(REFUND_HELD);
    case "withdrawn":
      return unavailable("The request could not be handled in time; nothing was done.");
    case "unknown":
      return errorAnswer("outcome_unknown", named);
    case "failed":
      return internalError;
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

/** True for an error after which the same request may succeed in a moment. */
export function isSomethingAway(fault: unknown): boolean {
  return isAway(fault) || isLocked(fault);
}
