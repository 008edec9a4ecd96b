/**
 * Every error of the interface for the API reference. The examples are made by the functions that
 * make the answers, so that text, status and fields cannot differ from what the service says.
 *
 * @module
 */

import { z } from "zod";
import type { Refusal, RefusalCode } from "../../actors/merchant/refusal.ts";
import { add, type Amount, parseAmount, ZERO } from "../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";
import * as errors from "../http/errors.ts";
import { LARGEST_BODY } from "../http/read_body.ts";
import { feeInfoSchema } from "../payouts/fee_info_schema.ts";
import { decimal, exampleId, id, shownCurrency, shownNetwork } from "../http/formats.ts";
import { type ErrorDoc, errorDoc } from "./error_doc.ts";

const message = z.string();

/** Of a move that is refused. */
const states = { from: z.string(), to: z.string() };

/** One fault of a request. */
const detail = z.object({
  path: z.array(z.string()).meta({ description: "Where; empty for the request as a whole" }),
  message: z.string(),
  code: z.string().meta({ examples: ["invalid_enum_value"] }),
}).meta({ id: "ErrorDetail" });

const details = z.array(detail);

const SAMPLE_DETAIL = {
  path: ["currency"],
  message: 'Invalid option: expected one of "USDT"|"USDC"',
  code: "invalid_enum_value",
};

/** 400 of every route. */
export const invalidRequestDoc = errorDoc(
  "InvalidRequest",
  "A field is missing or malformed; details name each one",
  errors.invalidRequest([SAMPLE_DETAIL]),
  "Invalid request data",
  { details },
);

/** 422 of routes with rules over several fields. */
export const validationFailedDoc = errorDoc(
  "ValidationFailed",
  "Well formed, but a rule over several fields or an outside check refuses it",
  errors.validationFailed("endDate", "The range ends before it starts", "reversed_range"),
  "Validation failed",
  { details },
);

/** 401 without a key. */
export const authenticationRequiredDoc = errorDoc(
  "AuthenticationRequired",
  "No API key was sent",
  errors.authenticationRequired,
  "Authentication required",
);

/** 401 with a key that is not accepted. */
export const unauthorizedDoc = errorDoc(
  "Unauthorized",
  "The API key is unknown, expired, revoked, of another environment, or used from elsewhere",
  errors.unauthorized,
  "Unauthorized",
);

/** 403 of most routes. */
export const forbiddenDoc = errorDoc(
  "InsufficientPermissions",
  "The key lacks the permission, or the merchant in the path is another one",
  errors.forbidden(),
  "Insufficient permissions",
);

/** 403 of a new withdrawal. */
export const withdrawalForbiddenDoc = errorDoc(
  "WithdrawalForbidden",
  "The key may neither write nor pay out",
  errors.forbidden("Insufficient permissions to initiate a withdrawal"),
  "Insufficient permissions to initiate a withdrawal",
);

/** 404 of a record. */
export const notFoundDoc = errorDoc(
  "NotFound",
  "There is no such record, or it is another merchant's",
  errors.notFound,
  "Not found",
);

/** 413. */
export const bodyTooLargeDoc = errorDoc(
  "BodyTooLarge",
  "The body has more than 64 KiB",
  errors.bodyTooLarge(LARGEST_BODY),
  "Request body too large",
  { message },
);

/** 415. */
export const unsupportedMediaTypeDoc = errorDoc(
  "UnsupportedMediaType",
  "The body is not announced as application/json",
  errors.unsupportedMediaType,
  "Unsupported media type",
  { message },
);

/** 429 of every route that is limited. */
export const rateLimitExceededDoc = errorDoc(
  "RateLimitExceeded",
  "More requests than the limit allows; go on after the seconds in Retry-After",
  errors.rateLimitExceeded(
    "balance",
    { limit: 1_000, remaining: 0, endsAt: Date.parse("2026-08-13T09:30:00Z") },
    "12",
  ),
  "rate_limit_exceeded",
  {
    message,
    details: z.object({
      limit: z.int().meta({ description: "Requests per minute" }),
      remaining: z.int(),
      reset: z.int().meta({ description: "Unix time in seconds" }),
    }),
  },
);

/** 500: a fault of ours. */
export const internalErrorDoc = errorDoc(
  "Internal",
  "A fault of the service; name the X-Request-Id when you report it",
  errors.internalError,
  "Internal error",
);

/** 500: what became of a change is not known. */
export const outcomeUnknownDoc = errorDoc(
  "OutcomeUnknown",
  "The request was decided, but whether it is stored is not known yet: look the record up",
  errors.notDone({ kind: "unknown" }, { withdrawalId: exampleId("wd") }),
  "Outcome unknown",
  {
    message,
    id: z.string().optional(),
    withdrawalId: id("wd").optional(),
    settlementId: id("stl").optional(),
    depositId: id("dep").optional(),
    merchantId: id("mer").optional(),
    addressId: id("adr").optional(),
  },
);

/** 503 of every route. */
export const unavailableDoc = errorDoc(
  "Unavailable",
  "Nothing was done; repeat after the seconds in Retry-After",
  errors.unavailable("The request could not be handled in time; nothing was done."),
  "Service unavailable",
  { message },
);

/** 400 of the hosted page's status. */
export const tokenRequiredDoc = errorDoc(
  "TokenRequired",
  "The query has no token",
  errors.tokenRequired,
  "Token is required",
);

/** 404 of the hosted page's status. */
export const invalidTokenDoc = errorDoc(
  "InvalidToken",
  "No hosted page has this token",
  errors.invalidToken,
  "Invalid token",
);

/** 410 of the hosted page's status. */
export const sessionExpiredDoc = errorDoc(
  "SessionExpired",
  "The 15 minutes of the hosted page are over",
  errors.sessionExpired,
  "Session expired",
);

/** 409 of an operator's or a key's state. */
export const conflictDoc = errorDoc(
  "Conflict",
  "The record is not in a state that allows this",
  errors.conflict("The key has ended and cannot be rotated."),
  "Conflict",
  { message },
);

/** 403 of a rotation. */
export const keyOfAnotherDoc = errorDoc(
  "KeyOfAnother",
  "The key counts as another administrator than the one who asks",
  errors.keyOfAnother,
  "Insufficient permissions",
  { message },
);

/** 500 of a withdrawal that was taken back at once. */
export const payoutInitiationFailedDoc = errorDoc(
  "PayoutInitiationFailed",
  "The treasury refused the payout; the reserved amount is back and the referenceId is free",
  errors.payoutInitiationFailed(exampleId("wd")),
  "Payout initiation failed",
  { message, withdrawalId: id("wd") },
);

/** 500: nothing can be signed on the network. */
export const settlementInitiationFailedDoc = errorDoc(
  "SettlementInitiationFailed",
  "The treasury refused the payout; the reserved amount is back and the Idempotency-Key is free",
  errors.settlementInitiationFailed(exampleId("stl"), exampleId("wd")),
  "Payout initiation failed",
  { message, settlementId: id("stl"), withdrawalId: id("wd") },
);

function amountOf(text: string): Amount {
  const parsed = parseAmount(text);
  if (parsed === null) {
    throw new RangeError(`Cannot document an amount as it is malformed: ${text}`);
  }
  return parsed;
}

const PAIR = { currency: "USDT", network: "TRX" } as const;

const ONE = amountOf("1");
const TEN = amountOf("10");

const SAMPLE_FEES: WithdrawalFees = {
  amount: TEN,
  baseFee: ONE,
  markupRate: "0",
  markupAmount: ZERO,
  commission: ONE,
  networkFee: ONE,
  totalFees: add(ONE, ONE),
  grossAmount: add(TEN, add(ONE, ONE)),
};

function refusal(
  name: string,
  description: string,
  example: Refusal,
  error: string | RegExp,
  extra: z.ZodRawShape = {},
): ErrorDoc {
  return errorDoc(name, description, errors.refused(example), error, extra);
}

/** A refusal that reads like a malformed request. */
function invalidField(name: string, description: string, example: Refusal): ErrorDoc {
  const { schema } = invalidRequestDoc;
  return { name, description, schema, example: errors.refused(example) };
}

function conflict(name: string, description: string, example: Refusal, extra: z.ZodRawShape = {}) {
  return refusal(name, description, example, "Conflict", { message, ...extra });
}

/** Every expected no of a merchant's account. */
export const REFUSALS: Readonly<Record<RefusalCode, ErrorDoc>> = {
  merchant_not_active: refusal(
    "MerchantNotActive",
    "The merchant is suspended or inactive",
    { code: "merchant_not_active" },
    "Merchant account is not active",
  ),
  idempotency_conflict: conflict(
    "IdempotencyConflict",
    "The Idempotency-Key was used with another body",
    { code: "idempotency_conflict" },
  ),
  deposits_closed_on_network: refusal(
    "DepositsNotSupportedOnNetwork",
    "No pair of the network takes deposits",
    { code: "deposits_closed_on_network", network: "ETH" },
    /^Deposits on \w+ are not currently supported$/,
  ),
  deposits_closed_for_pair: refusal(
    "DepositsNotSupported",
    "The pair takes no deposits",
    { code: "deposits_closed_for_pair", currency: "USDC", network: "TRX" },
    /^Deposits of \w+ on \w+ are not supported$/,
  ),
  withdrawals_closed_for_pair: refusal(
    "WithdrawalsNotSupported",
    "The pair takes no withdrawals",
    { code: "withdrawals_closed_for_pair", currency: "USDC", network: "TRX" },
    /^Withdrawals of \w+ on \w+ are not supported$/,
  ),
  amount_not_positive: refusal(
    "AmountNotPositive",
    "The amount is zero or negative",
    { code: "amount_not_positive" },
    "Withdrawal amount must be greater than zero",
  ),
  amount_not_exact: invalidField(
    "AmountNotExact",
    "The amount has more decimals than the token on that network",
    { code: "amount_not_exact", decimals: 6 },
  ),
  below_minimum: refusal(
    "BelowMinimum",
    "The amount is below the pair's minimum",
    { code: "below_minimum", minWithdrawal: ONE, ...PAIR },
    "Amount below minimum withdrawal",
    { minWithdrawal: decimal, currency: shownCurrency, network: shownNetwork },
  ),
  destination_invalid: invalidField(
    "DestinationInvalid",
    "The destination is not an address of the network",
    { code: "destination_invalid" },
  ),
  destination_is_ours: invalidField(
    "DestinationIsOurs",
    "The destination belongs to the service itself",
    { code: "destination_is_ours" },
  ),
  destination_not_registered: refusal(
    "DestinationNotRegistered",
    "A RESELLER key named another destination or network than the registered one",
    { code: "destination_not_registered" },
    "Destination does not match the registered withdrawal address",
  ),
  destination_not_whitelisted: refusal(
    "DestinationNotWhitelisted",
    "The settlement address is not on the whitelist, or not active",
    { code: "destination_not_whitelisted" },
    "Destination address is not whitelisted for this merchant",
  ),
  reference_taken: refusal(
    "DuplicateReference",
    "The referenceId names a withdrawal that is neither FAILED nor CANCELLED",
    { code: "reference_taken", withdrawalId: exampleId("wd") },
    "Duplicate referenceId",
    { message, withdrawalId: id("wd") },
  ),
  no_balance_row: refusal(
    "NoBalance",
    "The account never held this pair",
    { code: "no_balance_row", ...PAIR },
    /^No \w+ balance on \w+ for this account$/,
  ),
  insufficient_balance: refusal(
    "InsufficientBalance",
    "The pair's balance does not cover amount and fees; other networks are not used",
    {
      code: "insufficient_balance",
      available: amountOf("5"),
      requested: SAMPLE_FEES.grossAmount,
      fees: SAMPLE_FEES,
      ...PAIR,
    },
    "Insufficient balance",
    {
      available: decimal,
      requested: decimal.meta({ description: "The whole debit" }),
      currency: shownCurrency,
      network: shownNetwork,
      feeInfo: feeInfoSchema,
    },
  ),
  treasury_short: refusal(
    "WithdrawalUnavailable",
    "The hot wallet cannot pay this now; nothing was created and the referenceId is free",
    { code: "treasury_short" },
    "Withdrawal temporarily unavailable",
    { message },
  ),
  record_not_found: notFoundDoc,
  not_manual: conflict(
    "NotManual",
    "The deposit came over a chain, which alone decides on it",
    { code: "not_manual", from: "PENDING", to: "CONFIRMED" },
    states,
  ),
  transfer_known: conflict(
    "TransferKnown",
    "The transaction that the deposit names is booked already",
    { code: "transfer_known", depositId: exampleId("dep") },
    { depositId: id("dep") },
  ),
  balance_too_large: invalidField(
    "BalanceTooLarge",
    "The deposit is above 1000000000000, or with it the balance above 10^19",
    { code: "balance_too_large" },
  ),
  same_administrator: refusal(
    "SameAdministrator",
    "The key, or the administrator behind it, made the record or confirmed the money that it moves",
    { code: "same_administrator" },
    "Insufficient permissions",
    { message },
  ),
  wrong_state: conflict(
    "WrongState",
    "The record is in a state that this move does not leave",
    { code: "wrong_state", from: "CONFIRMED", to: "CANCELLED" },
    states,
  ),
  already_sent: conflict(
    "AlreadySent",
    "A transaction of the payout may be on its way",
    { code: "already_sent", from: "PENDING", to: "FAILED" },
    states,
  ),
  payment_used: conflict(
    "PaymentUsed",
    "The named transaction has paid another withdrawal",
    { code: "payment_used", from: "PENDING", to: "CONFIRMED" },
    states,
  ),
  transfer_of_another: conflict(
    "TransferOfAnother",
    "The transaction that the deposit names paid another merchant, or another one's deposit by hand",
    { code: "transfer_of_another", from: "PENDING", to: "CONFIRMED" },
    states,
  ),
  address_exists: refusal(
    "DepositAddressExists",
    "The customer has an address and the request said `If-None-Match: *`",
    { code: "address_exists" },
    "Deposit address already exists",
  ),
  settlement_address_exists: conflict(
    "SettlementAddressExists",
    "The address is on the whitelist already",
    { code: "settlement_address_exists" },
  ),
  event_conflict: conflict(
    "EventConflict",
    "The eventId was used with another body",
    { code: "event_conflict" },
  ),
};
