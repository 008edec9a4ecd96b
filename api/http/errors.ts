/**
 * Every error of the interface, in one place: which status, which text, which extra fields. Actors
 * refuse with codes; only this file knows what a merchant reads.
 *
 * @module
 */

import type { Refusal } from "../../actors/merchant/refusal.ts";
import type { AskOutcome } from "../../actors/runtime/ask.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { isAway } from "../../actors/runtime/is_away.ts";
import type { Answer, Detail, ErrorBody } from "./answer.ts";
import { feeInfo } from "./fee_info.ts";

/** Seconds after which a request that found no room is worth repeating. */
const RETRY_SOON = "1";

/** Seconds after which the treasury may have been refilled. */
const RETRY_AFTER_REFILL = "30";

function error(status: number, body: ErrorBody, headers?: Record<string, string>): Answer {
  return headers === undefined ? { status, body } : { status, body, headers };
}

/** 400: the request's shape is wrong. */
export function invalidRequest(details: readonly Detail[]): Answer {
  return error(400, { error: "Invalid request data", details });
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
  return error(422, { error: "Validation failed", details: [{ path: [path], message, code }] });
}

const CHALLENGE = { "www-authenticate": "Bearer" };

/** 401 without a key. */
export const authenticationRequired: Answer = error(
  401,
  { error: "Authentication required" },
  CHALLENGE,
);

/** 401 with a key that is unknown, expired, revoked, of another environment or from elsewhere. */
export const unauthorized: Answer = error(401, { error: "Unauthorized" }, CHALLENGE);

/** 403: the key may not do this. */
export function forbidden(text = "Insufficient permissions"): Answer {
  return error(403, { error: text });
}

/** 403: the account may not create payments. */
export const merchantNotActive: Answer = error(403, { error: "Merchant account is not active" });

/** 404. */
export const notFound: Answer = error(404, { error: "Not found" });

/** 405, naming what is allowed. */
export function methodNotAllowed(allowed: readonly string[]): Answer {
  return error(405, { error: "Method not allowed" }, { allow: allowed.join(", ") });
}

/** 409, with why in `message`. */
export function conflict(message: string): Answer {
  return error(409, { error: "Conflict", message });
}

/** 409 of a move from one state to another, with why where the states alone do not say it. */
function refusedMove(from: string, to: string, why?: string): Answer {
  const move = `Cannot move from ${from} to ${to}`;
  const message = why === undefined ? `${move}.` : `${move}: ${why}.`;
  return error(409, { error: "Conflict", message, from, to });
}

/** 413. */
export function bodyTooLarge(limit: number): Answer {
  return error(413, {
    error: "Request body too large",
    message: `A request body may have ${limit} bytes.`,
  });
}

/** 403: what would take a key's place would make one administrator another one. */
export const keyOfAnother: Answer = error(403, {
  error: "Insufficient permissions",
  message: "The key counts as another administrator: end it, and make a new one.",
});

/** 415. */
export const unsupportedMediaType: Answer = error(415, {
  error: "Unsupported media type",
  message: "Send the request body as application/json.",
});

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
  return error(429, {
    error: "rate_limit_exceeded",
    message: `${limit} requests per minute (${category}) are used up; try again in ${seconds} s.`,
    details: { limit, remaining, reset: Math.ceil(endsAt / 1_000) },
  }, { "retry-after": seconds });
}

/** 500: a bug of ours; what happened is in our log under the request id. */
export const internalError: Answer = error(500, { error: "Internal error" });

/** 503: nothing was done; ask again. */
export function unavailable(message: string): Answer {
  return error(503, { error: "Service unavailable", message }, { "retry-after": RETRY_SOON });
}

/**
 * 500: the request was decided, and whether it is stored is not known.
 *
 * @param named the id that the record has if it exists after all, as `{withdrawalId: ...}`
 */
export function outcomeUnknown(named: Readonly<Record<string, string>> = {}): Answer {
  return error(500, {
    error: "Outcome unknown",
    message: "The request was decided, but it is not known yet whether it is stored. " +
      "Look the record up before you repeat it.",
    ...named,
  });
}

/** 500: reserved, refused by the treasury, refunded; all before the answer. */
export function payoutInitiationFailed(withdrawalId: string): Answer {
  return error(500, {
    error: "Payout initiation failed",
    message: "The reserved amount was returned and the referenceId may be used again.",
    withdrawalId,
  });
}

/** 500: nothing can be signed on the network; the settlement was refunded in the commit that made it. */
export function settlementInitiationFailed(settlementId: string, withdrawalId: string): Answer {
  return error(500, {
    error: "Payout initiation failed",
    message: "The reserved amount was returned and the request may be repeated.",
    settlementId,
    withdrawalId,
  });
}

/** 400: a pair that takes no withdrawals. */
export function withdrawalsNotSupported(currency: string, network: string): Answer {
  return error(400, { error: `Withdrawals of ${currency} on ${network} are not supported` });
}

/** 400: a network on which nothing can be deposited. */
export function depositsNotSupported(network: string): Answer {
  return error(400, { error: `Deposits on ${network} are not currently supported` });
}

/** 400: the hosted page's status was asked for without its token. */
export const tokenRequired: Answer = error(400, { error: "Token is required" });

/** 404: no hosted page has this token. */
export const invalidToken: Answer = error(404, { error: "Invalid token" });

/** 410: the hosted page's time is over. */
export const sessionExpired: Answer = error(410, { error: "Session expired" });

/**
 * What the merchant is told when its actor says no.
 *
 * @param amountField how the request calls its amount
 */
export function refused(refusal: Refusal, amountField = "amount"): Answer {
  switch (refusal.code) {
    case "merchant_not_active":
      return merchantNotActive;
    case "deposits_closed_on_network":
      return depositsNotSupported(refusal.network);
    case "idempotency_conflict":
      return error(409, {
        error: "Conflict",
        message: "This Idempotency-Key was used with another request.",
      });
    case "deposits_closed_for_pair":
      return error(400, {
        error: `Deposits of ${refusal.currency} on ${refusal.network} are not supported`,
      });
    case "withdrawals_closed_for_pair":
      return withdrawalsNotSupported(refusal.currency, refusal.network);
    case "amount_not_positive":
      return error(400, { error: "Withdrawal amount must be greater than zero" });
    case "amount_not_exact":
      return invalidField(
        amountField,
        `The amount may have ${refusal.decimals} decimal places on this network`,
        "not_exact",
      );
    case "below_minimum":
      return error(400, {
        error: "Amount below minimum withdrawal",
        minWithdrawal: formatAmount(refusal.minWithdrawal),
        currency: refusal.currency,
        network: refusal.network,
      });
    case "destination_invalid":
      return invalidField("destination", "Not an address of this network", "invalid_address");
    case "destination_is_ours":
      return invalidField(
        "destination",
        "The address belongs to this service; a payout cannot go there",
        "own_address",
      );
    case "destination_not_registered":
      return error(400, { error: "Destination does not match the registered withdrawal address" });
    case "destination_not_whitelisted":
      return error(400, { error: "Destination address is not whitelisted for this merchant" });
    case "reference_taken":
      return error(409, {
        error: "Duplicate referenceId",
        message: "This referenceId already names a withdrawal of this account.",
        withdrawalId: refusal.withdrawalId,
      });
    case "no_balance_row":
      return error(400, {
        error: `No ${refusal.currency} balance on ${refusal.network} for this account`,
      });
    case "insufficient_balance":
      return error(400, {
        error: "Insufficient balance",
        available: formatAmount(refusal.available),
        requested: formatAmount(refusal.requested),
        currency: refusal.currency,
        network: refusal.network,
        feeInfo: feeInfo(refusal.fees),
      });
    case "treasury_short":
      return error(
        503,
        {
          error: "Withdrawal temporarily unavailable",
          message: "Nothing was created and the referenceId is still free; retry shortly.",
        },
        { "retry-after": RETRY_AFTER_REFILL },
      );
    case "record_not_found":
      return notFound;
    case "not_manual":
      return refusedMove(
        refusal.from,
        refusal.to,
        "the chain decides on this deposit; an operator cannot",
      );
    case "transfer_known":
      return error(409, {
        error: "Conflict",
        message: "The named transaction is booked already.",
        depositId: refusal.depositId,
      });
    case "balance_too_large":
      return invalidField(
        amountField,
        "Expected at most 1000000000000, and a balance within what is possible",
        "too_big",
      );
    case "settlement_address_exists":
      return error(409, {
        error: "Conflict",
        message: "This address is on the whitelist already.",
      });
    case "event_conflict":
      return error(409, {
        error: "Conflict",
        message: "This eventId was used with another body.",
      });
    case "same_administrator":
      return error(403, {
        error: "Insufficient permissions",
        message: "Another administrator has to decide on this one.",
      });
    case "wrong_state":
      return refusedMove(refusal.from, refusal.to);
    case "already_sent":
      return refusedMove(
        refusal.from,
        refusal.to,
        "a payout of this withdrawal may be on its way; it cannot be taken back",
      );
    case "payment_used":
      return refusedMove(
        refusal.from,
        refusal.to,
        "that transaction has paid another withdrawal",
      );
    case "transfer_of_another":
      return refusedMove(
        refusal.from,
        refusal.to,
        "the named transaction paid, or was booked by, another merchant",
      );
    case "address_exists":
      return error(409, { error: "Deposit address already exists" });
    default: {
      const never: never = refusal;
      return never;
    }
  }
}

/**
 * What the merchant is told of an ask that brought no answer.
 *
 * @param outcome every outcome but `done`
 * @param named the id that the record has if it exists after all, as `{withdrawalId: ...}`
 * @param amountField how the request calls its amount
 */
export function notDone<V>(
  outcome: Exclude<AskOutcome<V, Refusal>, { readonly kind: "done" }>,
  named: Readonly<Record<string, string>>,
  amountField?: string,
): Answer {
  switch (outcome.kind) {
    case "refused":
      return refused(outcome.refusal, amountField);
    case "overloaded":
      return unavailable("Too many requests are waiting for this account; nothing was done.");
    case "withdrawn":
      return unavailable("The request could not be handled in time; nothing was done.");
    case "unknown":
      return outcomeUnknown(named);
    case "failed":
      return internalError;
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

/** A statement that was cancelled because it took too long (PostgreSQL manual, appendix A). */
const QUERY_CANCELED = "57014";

/** A row that another transaction has held for longer than is waited. */
const LOCK_NOT_AVAILABLE = "55P03";

/** Whether an error means that the same request may succeed in a moment. */
export function isSomethingAway(fault: unknown): boolean {
  return isAway(fault) || (fault instanceof Error && "code" in fault &&
    (fault.code === QUERY_CANCELED || fault.code === LOCK_NOT_AVAILABLE));
}
