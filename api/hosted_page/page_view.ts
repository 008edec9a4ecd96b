/**
 * The state of a hosted payment, as the customer should understand it. The interface's four statuses
 * know neither quotes nor the end of the page's time; this does.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import { type NetworkNames, PROFILES } from "../../chains/profiles.ts";
import type { PageMerchant } from "../../ledger/hosted_page.ts";
import {
  add,
  type Amount,
  formatAmount,
  max,
  roundUpTo,
  subtract,
  ZERO,
} from "../../ledger/money/amount.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import type { SessionPayment, SessionRow } from "../../ledger/sessions.ts";
import { type Language, LANGUAGES } from "./language.ts";
import type { Texts } from "./texts/en.ts";
import { type UsualTime, usualTime } from "./usual_time.ts";

/** The amounts asked for and received, in the token that the page asks for. */
export interface Progress {
  /** The amount to send: the quote, rounded up to what the token can carry; null without a quote. */
  readonly asked: Amount | null;
  /** Credited or on its way. */
  readonly seen: Amount;
  readonly credited: Amount;
  /** The amount still to be sent; null without a quote. */
  readonly missing: Amount | null;
  /**
   * True where the merchant named a price and no rate was at hand for it: then only the merchant knows
   * how much of the token pays it.
   */
  readonly isUnpriced: boolean;
}

/** The state that the page shows. */
export type PageState =
  /** Nothing was seen yet. */
  | { readonly kind: "waiting" }
  /** Less than the quote was seen, and there is time to send the rest. */
  | { readonly kind: "partial" }
  /** Enough was seen and is not final; `late`: the page's time is over meanwhile. */
  | { readonly kind: "received"; readonly late: boolean }
  /** Enough was credited; `over`: that much more than was asked, zero where it was exact. */
  | { readonly kind: "completed"; readonly over: Amount }
  /** Something was credited, and only the merchant knows whether it is enough. */
  | { readonly kind: "unchecked" }
  /** The transfer that was seen can no longer arrive. */
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
  const decimals = tokenDecimals(session.currency, session.network);
  const asked = session.amount === null ? null : roundUpTo(session.amount, decimals);
  const credited = payment?.credited ?? ZERO;
  const seen = add(credited, payment?.pending ?? ZERO);
  return {
    asked,
    seen,
    credited,
    // a deposit by hand may be finer than the token, and what is missing has to be one that can be sent
    missing: asked === null ? null : roundUpTo(max(subtract(asked, seen), ZERO), decimals),
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

/** The time after its end during which a page looks for a late payment. */
const LOOKS_ON_MS = 60 * 60_000;

/** The requests by which an open page sees whether something changed. */
export type Poll = "status" | "page" | "none";

/**
 * The requests of the page: the status while its time lasts, afterwards itself (the status is a 410 by
 * then), nothing once there is nothing to wait for. A tab that is left open does not ask for ever.
 *
 * @param overMs since the page's time was over, milliseconds; below zero while it lasts
 */
function pollOf(state: PageState, overMs: number): Poll {
  if (overMs < 0) return state.kind === "completed" ? "none" : "status";
  if (state.kind === "received") return "page";
  return state.kind === "completed" || overMs > LOOKS_ON_MS ? "none" : "page";
}

/** The customer's way on. */
export interface Redirect {
  readonly url: string;
  /** Seconds after which the page goes there by itself; null: only when the customer wants to. */
  readonly afterS: number | null;
}

/** Long enough to read that all is well. */
const SUCCESS_S = 5;
/** Long enough to read what went wrong, and that a payment already sent is safe. */
const FAILURE_S = 10;

/**
 * The way on from a terminal state, if the merchant has set it. Money that is on its way or too little
 * is nothing to be sent away from: there the customer is offered the way and takes it or not. Money
 * that only the merchant can judge leads nowhere: neither address would be true.
 */
export function redirectOf(
  state: PageState,
  merchant: Pick<PageMerchant, "successUrl" | "failureUrl">,
): Redirect | null {
  const to = (url: string | null, afterS: number | null) => url === null ? null : { url, afterS };
  switch (state.kind) {
    case "waiting":
    case "partial":
    case "received":
    case "unchecked":
      return null;
    case "completed":
      return to(merchant.successUrl, SUCCESS_S);
    case "failed":
    case "expired":
      return to(merchant.failureUrl, FAILURE_S);
    case "short":
      return to(merchant.failureUrl, null);
    default: {
      const never: never = state;
      return never;
    }
  }
}

/** By currency, which is three letters; asking takes 0.1 ms each time. */
const decimalsOf = new Map<string, number>();

/** An amount with the decimals that its currency is written with, or more where it has more. */
export function fiatText(amount: Amount, currency: string): string {
  let decimals = decimalsOf.get(currency);
  if (decimals === undefined) {
    const options = { style: "currency", currency } as const;
    decimals = new Intl.NumberFormat("en", options).resolvedOptions().maximumFractionDigits ?? 0;
    decimalsOf.set(currency, decimals);
  }
  const [whole = "", fraction = ""] = formatAmount(amount).split(".");
  const padded = fraction.padEnd(decimals, "0");
  return padded === "" ? whole : `${whole}.${padded}`;
}

/** Everything that a hosted page is drawn from. */
export interface PageView {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  readonly progress: Progress;
  readonly state: PageState;
  readonly network: NetworkNames;
  /** The time that this network takes to make a payment final. */
  readonly usual: UsualTime;
  /** The link that opens a wallet with what is still to be sent; null where wallets of the network have none. */
  readonly link: string | null;
  /** True where money sent here may be worth nothing. */
  readonly isTest: boolean;
  readonly language: Language;
  readonly texts: Texts;
  /** The requests by which the page sees whether something changed. */
  readonly poll: Poll;
  /** Since the page's time was over, milliseconds; below zero while it lasts. */
  readonly overMs: number;
}

export interface PageFacts {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  /** Makes the network's payment links; absent where its wallets have none. */
  readonly paymentLink: Chain["paymentLink"] | undefined;
  readonly isDevelopment: boolean;
  readonly language: Language;
  readonly now: number;
}

/** Draws the conclusions of the facts. */
export function pageView({ isDevelopment, paymentLink, now, ...facts }: PageFacts): PageView {
  const { session, payment, language } = facts;
  const progress = progressOf(session, payment);
  const state = pageState(session, payment, progress, now);
  const overMs = now - session.expiresAt;
  const { names: network, pace } = PROFILES[session.network];
  return {
    ...facts,
    progress,
    state,
    network,
    usual: usualTime(pace.finalityMs),
    link: state.kind === "waiting" || state.kind === "partial"
      ? paymentLink?.(session.address, session.currency, progress.missing) ?? null
      : null,
    isTest: isDevelopment || network.isTest,
    texts: LANGUAGES[language],
    poll: pollOf(state, overMs),
    overMs,
  };
}

/**
 * Text that keeps its own direction within a sentence of any language: between Unicode's isolates,
 * because a sentence is text and cannot hold elements.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

/** An amount with its token, for a sentence. */
export function money(amount: Amount, token: string): string {
  return isolated(`${formatAmount(amount)}\u00a0${token}`);
}

/** The price that the merchant named, for a sentence; null where none was named. */
export function price(
  { requestedAmount, requestedCurrency }: Pick<
    SessionRow,
    "requestedAmount" | "requestedCurrency"
  >,
): string | null {
  if (requestedAmount === null || requestedCurrency === null) return null;
  return isolated(`${fiatText(requestedAmount, requestedCurrency)}\u00a0${requestedCurrency}`);
}
