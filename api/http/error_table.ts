/**
 * The table of every error that the interface answers. Routes name errors by their code; answers and
 * reference are made from the rows. The rows of what merchants' accounts refuse are in
 * `actors/merchant/refusal.ts`.
 *
 * @module
 */

import { type ErrorRow, errorRow, REFUSALS } from "../../actors/merchant/refusal.ts";
import type { Detail } from "./answer.ts";

const CHALLENGE = { "www-authenticate": "Bearer" };
const WITHDRAWAL_ID = "wd_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41";
const SETTLEMENT_ID = "stl_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41";

const DETAIL: Detail = {
  path: ["currency"],
  message: 'Invalid option: expected one of "USDT"|"USDC"',
  code: "invalid_enum_value",
};

/** Ids that a record has if it exists after all. */
interface NamedIds {
  readonly id?: string;
  readonly withdrawalId?: string;
  readonly settlementId?: string;
  readonly depositId?: string;
  readonly merchantId?: string;
  readonly addressId?: string;
}

export const ERRORS = {
  ...REFUSALS,
  invalid_request: errorRow({
    name: "InvalidRequest",
    cause: "A field is missing or malformed; details name each one",
    status: 400,
    error: "Invalid request data",
    shows: ["details"],
    facts: { details: [DETAIL] as readonly Detail[] },
  }),
  token_required: errorRow({
    name: "TokenRequired",
    cause: "The query has no token",
    status: 400,
    error: "Token is required",
    facts: {},
  }),
  authentication_required: errorRow({
    name: "AuthenticationRequired",
    cause: "No API key was sent",
    status: 401,
    error: "Authentication required",
    headers: CHALLENGE,
    facts: {},
  }),
  unauthorized: errorRow({
    name: "Unauthorized",
    cause:
      "The API key is unknown, expired, revoked, of another environment, or used from elsewhere",
    status: 401,
    error: "Unauthorized",
    headers: CHALLENGE,
    facts: {},
  }),
  forbidden: errorRow({
    name: "InsufficientPermissions",
    cause: "The key lacks the permission, or the merchant in the path is another one",
    status: 403,
    error: "Insufficient permissions",
    facts: {},
  }),
  withdrawal_forbidden: errorRow({
    name: "WithdrawalForbidden",
    cause: "The key may neither write nor pay out",
    status: 403,
    error: "Insufficient permissions to initiate a withdrawal",
    facts: {},
  }),
  key_of_another: errorRow({
    name: "KeyOfAnother",
    cause: "The key counts as another administrator than the one who asks",
    status: 403,
    error: "Insufficient permissions",
    message: "The key counts as another administrator: end it, and make a new one.",
    facts: {},
  }),
  invalid_token: errorRow({
    name: "InvalidToken",
    cause: "No hosted page has this token",
    status: 404,
    error: "Invalid token",
    facts: {},
  }),
  method_not_allowed: errorRow({
    name: "MethodNotAllowed",
    cause: "The path answers to other methods; Allow names them",
    status: 405,
    error: "Method not allowed",
    facts: {},
  }),
  conflict: errorRow({
    name: "Conflict",
    cause: "The record is not in a state that allows this",
    status: 409,
    error: "Conflict",
    message: "{why}",
    facts: { why: "The key has ended and cannot be rotated." },
  }),
  pair_not_served: errorRow({
    name: "PairNotServed",
    cause: "The installation has no node of the network, or no contract of the currency on it",
    status: 409,
    error: "Conflict",
    message: "{why}",
    facts: { why: "TRX has no contract of USDC configured here." },
  }),
  session_expired: errorRow({
    name: "SessionExpired",
    cause: "The 15 minutes of the hosted page are over",
    status: 410,
    error: "Session expired",
    facts: {},
  }),
  body_too_large: errorRow({
    name: "BodyTooLarge",
    cause: "The body has more than 64 KiB",
    status: 413,
    error: "Request body too large",
    message: "A request body may have {limit} bytes.",
    facts: { limit: 65_536 },
  }),
  unsupported_media_type: errorRow({
    name: "UnsupportedMediaType",
    cause: "The body is not announced as application/json",
    status: 415,
    error: "Unsupported media type",
    message: "Send the request body as application/json.",
    facts: {},
  }),
  validation_failed: errorRow({
    name: "ValidationFailed",
    cause: "Well formed, but a rule over several fields or an outside check refuses it",
    status: 422,
    error: "Validation failed",
    shows: ["details"],
    facts: {
      details: [{
        path: ["endDate"],
        message: "The range ends before it starts",
        code: "reversed_range",
      }] as readonly Detail[],
    },
  }),
  rate_limit_exceeded: errorRow({
    name: "RateLimitExceeded",
    cause: "More requests than the limit allows; go on after the seconds in Retry-After",
    status: 429,
    error: "rate_limit_exceeded",
    message: "{limit} requests per minute ({category}) are used up; try again in {seconds} s.",
    shows: ["details"],
    facts: {
      category: "balance",
      limit: 1_000,
      seconds: "12",
      details: { limit: 1_000, remaining: 0, reset: Date.parse("2026-08-13T09:30:00Z") / 1_000 },
    },
  }),
  internal: errorRow({
    name: "Internal",
    cause: "A fault of the service; name the X-Request-Id when you report it",
    status: 500,
    error: "Internal error",
    facts: {},
  }),
  outcome_unknown: errorRow({
    name: "OutcomeUnknown",
    cause: "The request was decided, but whether it is stored is not known yet: look the record up",
    status: 500,
    error: "Outcome unknown",
    message: "The request was decided, but it is not known yet whether it is stored. " +
      "Look the record up before you repeat it.",
    mayShow: ["id", "withdrawalId", "settlementId", "depositId", "merchantId", "addressId"],
    facts: { withdrawalId: WITHDRAWAL_ID } as NamedIds,
  }),
  payout_initiation_failed: errorRow({
    name: "PayoutInitiationFailed",
    cause:
      "The treasury refused the payout; the reserved amount is back and the referenceId is free",
    status: 500,
    error: "Payout initiation failed",
    message: "The reserved amount was returned and the referenceId may be used again.",
    shows: ["withdrawalId"],
    facts: { withdrawalId: WITHDRAWAL_ID },
  }),
  settlement_initiation_failed: errorRow({
    name: "SettlementInitiationFailed",
    cause:
      "The treasury refused the payout; the reserved amount is back and the Idempotency-Key is free",
    status: 500,
    error: "Payout initiation failed",
    message: "The reserved amount was returned and the request may be repeated.",
    shows: ["settlementId", "withdrawalId"],
    facts: { settlementId: SETTLEMENT_ID, withdrawalId: WITHDRAWAL_ID },
  }),
  unavailable: errorRow({
    name: "Unavailable",
    cause: "Nothing was done; repeat after the seconds in Retry-After",
    status: 503,
    error: "Service unavailable",
    message: "{why}",
    retryAfterS: 1,
    facts: { why: "The request could not be handled in time; nothing was done." },
  }),
};

export type ErrorCode = keyof typeof ERRORS;

/** The facts that the answer of an error needs. */
export type ErrorFacts<C extends ErrorCode> = Readonly<(typeof ERRORS)[C]["facts"]>;

/** The `code` of an error's body: its name in snake case, for example `insufficient_balance`. */
export function publishedCode({ name }: ErrorRow): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
}
