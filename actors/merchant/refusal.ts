/**
 * Every expected "no" of a merchant actor, in one closed list ordered by precedence: when several
 * apply, the first in the list is the one the merchant is told. The HTTP texts live in `api/`.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";

/** Codes in order of precedence. */
export const REFUSAL_CODES = [
  "merchant_not_active",
  "idempotency_conflict",
  "deposits_closed_on_network",
  "deposits_closed_for_pair",
  "withdrawals_closed_for_pair",
  "amount_not_positive",
  "amount_not_exact",
  "below_minimum",
  "destination_invalid",
  "destination_is_ours",
  "destination_not_registered",
  "destination_not_whitelisted",
  "reference_taken",
  "no_balance_row",
  "insufficient_balance",
  "treasury_short",
  "record_not_found",
  "not_manual",
  "transfer_known",
  "balance_too_large",
  "wrong_state",
  "same_administrator",
  "already_sent",
  "payment_used",
  "transfer_of_another",
  "address_exists",
  "settlement_address_exists",
  "event_conflict",
] as const;

/** One code of {@linkcode REFUSAL_CODES}. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** A move from one state to another that is refused. */
interface RefusedMove {
  readonly from: string;
  readonly to: string;
}

/** An expected no, with what its message needs. */
export type Refusal =
  | { readonly code: "merchant_not_active" }
  /** The Idempotency-Key was used with another body. */
  | { readonly code: "idempotency_conflict" }
  | {
    readonly code: "deposits_closed_for_pair";
    readonly currency: Currency;
    readonly network: Network;
  }
  | { readonly code: "deposits_closed_on_network"; readonly network: Network }
  | {
    readonly code: "withdrawals_closed_for_pair";
    readonly currency: Currency;
    readonly network: Network;
  }
  | { readonly code: "amount_not_positive" }
  /** More decimals than the token has on that network. */
  | { readonly code: "amount_not_exact"; readonly decimals: number }
  | {
    readonly code: "below_minimum";
    readonly minWithdrawal: Amount;
    readonly currency: Currency;
    readonly network: Network;
  }
  | { readonly code: "destination_invalid" }
  | { readonly code: "destination_is_ours" }
  /** A reseller's withdrawals go to its registered address on its network. */
  | { readonly code: "destination_not_registered" }
  | { readonly code: "destination_not_whitelisted" }
  | { readonly code: "reference_taken"; readonly withdrawalId: string }
  | { readonly code: "no_balance_row"; readonly currency: Currency; readonly network: Network }
  | {
    readonly code: "insufficient_balance";
    readonly available: Amount;
    /** The whole debit: amount, commission and network fee. */
    readonly requested: Amount;
    readonly currency: Currency;
    readonly network: Network;
    readonly fees: WithdrawalFees;
  }
  | { readonly code: "treasury_short" }
  | { readonly code: "record_not_found" }
  /** An operator cannot decide on what the chain decides. */
  | { readonly code: "not_manual" } & RefusedMove
  /** The transfer that a manual deposit names is booked already. */
  | { readonly code: "transfer_known"; readonly depositId: string }
  /** It, or with it the pair's balances, would be larger than any money there is. */
  | { readonly code: "balance_too_large" }
  | { readonly code: "wrong_state" } & RefusedMove
  /** Who made it, or confirmed the money that it moves, leaves the decision to another. */
  | {
    readonly code: "same_administrator";
    /** True where one administrator alone may not: it may be endorsed instead. Absent: false. */
    readonly isSecondMissing?: boolean;
  }
  /** A payout of this withdrawal may be on its way: it cannot be taken back. */
  | { readonly code: "already_sent" } & RefusedMove
  /** The transaction that is said to pay this withdrawal paid another one. */
  | { readonly code: "payment_used" } & RefusedMove
  /** The transaction that a manual deposit names paid, or was booked by hand for, another merchant. */
  | { readonly code: "transfer_of_another" } & RefusedMove
  | { readonly code: "address_exists" }
  | { readonly code: "settlement_address_exists" }
  /** The same upstream event came with another body. */
  | { readonly code: "event_conflict" };
