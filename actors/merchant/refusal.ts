/**
 * The table of everything that a merchant's account refuses. The types, the answers of the API and
 * its reference are made from these rows: a new refusal is a new row, and the verb that returns it.
 *
 * @module
 */

import { type Amount, parseAmount } from "../../ledger/money/amount.ts";
import { withdrawalFees } from "../../ledger/money/fees.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { MOST_SETTLEMENT_ADDRESSES } from "../../ledger/settlements.ts";

/** One error: its answer, and what the reference says about it. `api/http/error_table.ts` has more rows. */
export interface ErrorRow {
  /**
   * Name in the reference; in snake case it is the `code` of the body. Programs of merchants compare
   * it, so it stays what it is once it was released.
   */
  readonly name: string;
  /** Cause, for the reference. */
  readonly cause: string;
  /** HTTP status. */
  readonly status: number;
  /** `error` of the body; `{name}` stands for a fact. */
  readonly error: string;
  /** `message` of the body, likewise. */
  readonly message?: string;
  /** The field of the request that is at fault: `message` is then part of `details`. */
  readonly field?: { readonly path: string; readonly code: string };
  /** Facts that the body shows as fields of their own. */
  readonly shows?: readonly string[];
  /** Facts that the body shows where they are known. */
  readonly mayShow?: readonly string[];
  /** Seconds after which the same request may succeed; absent: it will not by itself. */
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An example; its types are those of the refusal. */
  readonly facts: object;
}

/** A row with the types of its facts. */
interface RowOf<F extends object> extends ErrorRow {
  readonly shows?: readonly (keyof F & string)[];
  readonly mayShow?: readonly (keyof F & string)[];
  readonly facts: F;
}

/** Declares a row. */
export function errorRow<F extends object>(row: RowOf<F>): RowOf<F> {
  return row;
}

function amount(text: string): Amount {
  const parsed = parseAmount(text);
  if (parsed === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return parsed;
}

const ONE = amount("1");
const PAIR = { currency: "USDT" as Currency, network: "TRX" as Network };
const CLOSED_PAIR = { ...PAIR, currency: "USDC" as Currency };

const FEES = withdrawalFees(amount("10"), { baseFee: ONE, markupRate: "0", enabled: true }, ONE, 6);

type Move = { readonly from: string; readonly to: string };

/** A 409 for a move from one state to another. */
function refusedMove(name: string, cause: string, facts: Move, why: string): RowOf<Move> {
  const message = `Cannot move from {from} to {to}${why}.`;
  return { name, cause, status: 409, error: "Conflict", message, shows: ["from", "to"], facts };
}

/** A 409 with a message. */
function conflict(name: string, cause: string, message: string) {
  return errorRow({ name, cause, status: 409, error: "Conflict", message, facts: {} });
}

/** A 400 that names the field of the request at fault. */
function invalidField<F extends object>(
  row: Pick<RowOf<F>, "name" | "cause" | "facts"> & {
    readonly message: string;
    readonly path: string;
    readonly code: string;
  },
): RowOf<F> {
  const { path, code, ...rest } = row;
  return { ...rest, status: 400, error: "Invalid request data", field: { path, code } };
}

/** Every refusal in order of precedence: when several apply, the first is the one that is answered. */
export const REFUSALS = {
  merchant_not_active: errorRow({
    name: "MerchantNotActive",
    cause: "The merchant is suspended or inactive",
    status: 403,
    error: "Merchant account is not active",
    facts: {},
  }),
  idempotency_conflict: conflict(
    "IdempotencyConflict",
    "The Idempotency-Key was used with another body",
    "This Idempotency-Key was used with another request.",
  ),
  deposits_closed_on_network: errorRow({
    name: "DepositsNotSupportedOnNetwork",
    cause: "No pair of the network takes deposits",
    status: 400,
    error: "Deposits on {network} are not currently supported",
    facts: { network: "ETH" as Network },
  }),
  deposits_closed_for_pair: errorRow({
    name: "DepositsNotSupported",
    cause: "The pair takes no deposits",
    status: 400,
    error: "Deposits of {currency} on {network} are not supported",
    facts: CLOSED_PAIR,
  }),
  withdrawals_closed_for_pair: errorRow({
    name: "WithdrawalsNotSupported",
    cause: "The pair takes no withdrawals",
    status: 400,
    error: "Withdrawals of {currency} on {network} are not supported",
    facts: CLOSED_PAIR,
  }),
  amount_not_positive: errorRow({
    name: "AmountNotPositive",
    cause: "The amount is zero or negative",
    status: 400,
    error: "Withdrawal amount must be greater than zero",
    facts: {},
  }),
  amount_not_exact: invalidField({
    name: "AmountNotExact",
    cause: "The amount has more decimals than the token on that network",
    message: "The amount may have {decimals} decimal places on this network",
    path: "amount",
    code: "not_exact",
    facts: { decimals: 6 },
  }),
  below_minimum: errorRow({
    name: "BelowMinimum",
    cause: "The amount is below the pair's minimum",
    status: 400,
    error: "Amount below minimum withdrawal",
    shows: ["minWithdrawal", "currency", "network"],
    facts: { minWithdrawal: ONE, ...PAIR },
  }),
  destination_invalid: invalidField({
    name: "DestinationInvalid",
    cause: "The destination is not an address of the network",
    message: "Not an address of this network",
    path: "destination",
    code: "invalid_address",
    facts: {},
  }),
  destination_is_ours: invalidField({
    name: "DestinationIsOurs",
    cause: "The destination belongs to the service itself",
    message: "The address belongs to this service; a payout cannot go there",
    path: "destination",
    code: "own_address",
    facts: {},
  }),
  destination_not_registered: errorRow({
    name: "DestinationNotRegistered",
    cause: "A RESELLER key named another destination or network than the registered one",
    status: 400,
    error: "Destination does not match the registered withdrawal address",
    facts: {},
  }),
  destination_not_whitelisted: errorRow({
    name: "DestinationNotWhitelisted",
    cause: "The settlement address is not on the whitelist, or not active",
    status: 400,
    error: "Destination address is not whitelisted for this merchant",
    facts: {},
  }),
  reference_taken: errorRow({
    name: "DuplicateReference",
    cause: "The referenceId names a withdrawal that is neither FAILED nor CANCELLED",
    status: 409,
    error: "Duplicate referenceId",
    message: "This referenceId already names a withdrawal of this account.",
    shows: ["withdrawalId"],
    facts: { withdrawalId: "wd_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41" },
  }),
  no_balance_row: errorRow({
    name: "NoBalance",
    cause: "The account never held this pair",
    status: 400,
    error: "No {currency} balance on {network} for this account",
    facts: PAIR,
  }),
  insufficient_balance: errorRow({
    name: "InsufficientBalance",
    cause: "The pair's balance does not cover amount and fees; other networks are not used",
    status: 400,
    error: "Insufficient balance",
    shows: ["available", "requested", "currency", "network", "fees"],
    facts: { available: amount("5"), requested: FEES.grossAmount, ...PAIR, fees: FEES },
  }),
  treasury_short: errorRow({
    name: "WithdrawalUnavailable",
    cause: "The hot wallet cannot pay this now; nothing was created and the referenceId is free",
    status: 503,
    error: "Withdrawal temporarily unavailable",
    message: "Nothing was created and the referenceId is still free; retry shortly.",
    retryAfterS: 30,
    facts: {},
  }),
  record_not_found: errorRow({
    name: "NotFound",
    cause: "There is no such record, or it is another merchant's",
    status: 404,
    error: "Not found",
    facts: {},
  }),
  not_manual: refusedMove(
    "NotManual",
    "The deposit came over a chain, which alone decides on it",
    { from: "PENDING", to: "CONFIRMED" },
    ": the chain decides on this deposit; an operator cannot",
  ),
  transfer_known: errorRow({
    name: "TransferKnown",
    cause: "The transaction that the deposit names is booked already",
    status: 409,
    error: "Conflict",
    message: "The named transaction is booked already.",
    shows: ["depositId"],
    facts: { depositId: "dep_0198a2c4-7d10-7c3e-9b52-3f6e1c0d8a41" },
  }),
  balance_too_large: invalidField({
    name: "BalanceTooLarge",
    cause: "The deposit is above 1000000000000, or with it the balance above 10^19",
    message: "Expected at most 1000000000000, and a balance within what is possible",
    path: "amount",
    code: "too_big",
    facts: {},
  }),
  wrong_state: refusedMove(
    "WrongState",
    "The record is in a state that this move does not leave",
    { from: "CONFIRMED", to: "CANCELLED" },
    "",
  ),
  same_administrator: errorRow({
    name: "SameAdministrator",
    cause:
      "The key, or the administrator behind it, made the record or confirmed the money that it moves",
    status: 403,
    error: "Insufficient permissions",
    message: "Another administrator has to decide on this one.",
    // isSecondMissing: one administrator alone may not, but may endorse it instead
    facts: {} as { readonly isSecondMissing?: boolean },
  }),
  already_sent: refusedMove(
    "AlreadySent",
    "A transaction of the payout may be on its way",
    { from: "PENDING", to: "FAILED" },
    ": a payout of this withdrawal may be on its way; it cannot be taken back",
  ),
  payment_used: refusedMove(
    "PaymentUsed",
    "The named transaction has paid another withdrawal",
    { from: "PENDING", to: "CONFIRMED" },
    ": that transaction has paid another withdrawal",
  ),
  transfer_of_another: refusedMove(
    "TransferOfAnother",
    "The transaction that the deposit names paid another merchant, or another one's deposit by hand",
    { from: "PENDING", to: "CONFIRMED" },
    ": the named transaction paid, or was booked by, another merchant",
  ),
  address_exists: errorRow({
    name: "DepositAddressExists",
    cause: "The customer has an address and the request said `If-None-Match: *`",
    status: 409,
    error: "Deposit address already exists",
    facts: {},
  }),
  settlement_address_exists: conflict(
    "SettlementAddressExists",
    "The address is on the whitelist already",
    "This address is on the whitelist already.",
  ),
  too_many_settlement_addresses: conflict(
    "TooManySettlementAddresses",
    `The whitelist has ${MOST_SETTLEMENT_ADDRESSES} addresses, as many as it may have`,
    `An account has ${MOST_SETTLEMENT_ADDRESSES} settlement addresses at most; remove one that is not needed.`,
  ),
  event_conflict: conflict(
    "EventConflict",
    "The eventId was used with another body",
    "This eventId was used with another body.",
  ),
};

type RefusalCode = keyof typeof REFUSALS;

/** A refusal with the facts that its answer needs. */
export type Refusal = {
  [C in RefusalCode]: { readonly code: C } & Readonly<(typeof REFUSALS)[C]["facts"]>;
}[RefusalCode];

/** The codes in order of precedence. */
export const REFUSAL_CODES = Object.keys(REFUSALS) as readonly RefusalCode[];
