/**
 * How a hosted payment stands, as the customer should understand it. The interface's four statuses
 * know neither quotes nor the end of the page's time; this does.
 *
 * @module
 */

import {
  add,
  type Amount,
  cutTo,
  fromTokenUnits,
  max,
  subtract,
  ZERO,
} from "../../ledger/money/amount.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import type { SessionPayment, SessionRow } from "../../ledger/sessions.ts";

/** What was asked for and what has come, in the token that the page asks for. */
export interface Progress {
  /** What to send: the quote, rounded up to what the token can carry; null without a quote. */
  readonly asked: Amount | null;
  /** Credited or on its way. */
  readonly seen: Amount;
  readonly credited: Amount;
  /** What is still to be sent; null without a quote. */
  readonly missing: Amount | null;
  /**
   * Whether the merchant named a price and no rate was at hand for it: then only the merchant knows
   * how much of the token pays it.
   */
  readonly isUnpriced: boolean;
}

/** What the page tells. */
export type PageState =
  /** Nothing was seen yet. */
  | { readonly kind: "waiting" }
  /** Less than the quote was seen, and there is time to send the rest. */
  | { readonly kind: "partial" }
  /** Enough was seen and is not final; `late`: the page's time is over meanwhile. */
  | { readonly kind: "received"; readonly late: boolean }
  /** Enough was credited; `over`: that much more than was asked, zero where it was exact. */
  | { readonly kind: "completed"; readonly over: Amount }
  /** Something was credited, and only the merchant can tell whether it is enough. */
  | { readonly kind: "unchecked" }
  /** What was seen has come to nothing. */
  | { readonly kind: "failed" }
  /** The page's time is over and nothing was seen. */
  | { readonly kind: "expired" }
  /** The page's time is over and less than the quote was seen. */
  | { readonly kind: "short" };

/** Compares what has come in with the quote. */
export function progressOf(
  session: Pick<SessionRow, "amount" | "currency" | "network" | "requestedAmount">,
  payment: SessionPayment | null,
): Progress {
  const asked = session.amount === null
    ? null
    : roundUp(session.amount, tokenDecimals(session.currency, session.network));
  const credited = payment?.credited ?? ZERO;
  const seen = add(credited, payment?.pending ?? ZERO);
  return {
    asked,
    seen,
    credited,
    missing: asked === null ? null : max(subtract(asked, seen), ZERO),
    isUnpriced: asked === null && session.requestedAmount !== null,
  };
}

/**
 * Says how the payment stands. A quote is met by the sum of what came in. Where any amount was asked
 * for the first payment is enough; where a price could not be quoted none is known to be.
 *
 * @param now Unix milliseconds
 */
export function pageState(
  session: Pick<SessionRow, "expiresAt">,
  payment: SessionPayment | null,
  progress: Progress,
  now: number,
): PageState {
  const isOver = now >= session.expiresAt;
  const { asked, seen, credited, isUnpriced } = progress;
  if (payment === null) return { kind: isOver ? "expired" : "waiting" };
  const { status } = payment.deposit;
  if (status === "FAILED" || status === "CANCELLED") return { kind: "failed" };
  if (isUnpriced) {
    return status === "CONFIRMED" && seen === credited
      ? { kind: "unchecked" }
      : { kind: "received", late: isOver };
  }
  if (asked === null) {
    return status === "CONFIRMED"
      ? { kind: "completed", over: ZERO }
      : { kind: "received", late: isOver };
  }
  if (credited >= asked) return { kind: "completed", over: subtract(credited, asked) };
  if (seen >= asked) return { kind: "received", late: isOver };
  return { kind: isOver ? "short" : "partial" };
}

/** The least amount of a token that is not below the given one. */
function roundUp(amount: Amount, decimals: number): Amount {
  const cut = cutTo(amount, decimals);
  return cut === amount ? cut : add(cut, fromTokenUnits(1n, decimals));
}
