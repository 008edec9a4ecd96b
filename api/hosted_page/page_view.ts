import type { PageMerchant } from "../../ledger/hosted_page.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { SessionPayment, SessionRow } from "../../ledger/sessions.ts";
import { fiatText } from "./fiat.ts";
import { type Language, LANGUAGES } from "./language.ts";
import { NETWORK_NAMES, type NetworkName } from "./network_names.ts";
import { type PageState, pageState, type Progress, progressOf } from "./page_state.ts";
import { type Poll, pollOf } from "./poll.ts";
import type { Texts } from "./texts/texts.ts";

/** Everything that a hosted page is drawn from. */
export interface PageView {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  readonly progress: Progress;
  readonly state: PageState;
  readonly network: NetworkName;
  /** Whether money sent here may be worth nothing. */
  readonly isTest: boolean;
  readonly language: Language;
  readonly texts: Texts;
  /** What the page asks to see whether something changed. */
  readonly poll: Poll;
  /** Since the page's time was over, milliseconds; below zero while it lasts. */
  readonly overMs: number;
}

/** What a view is made of. */
export interface PageFacts {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  readonly isDevelopment: boolean;
  readonly language: Language;
  readonly now: number;
}

/** Draws the conclusions of the facts. */
export function pageView({ isDevelopment, now, ...facts }: PageFacts): PageView {
  const { session, payment, language } = facts;
  const progress = progressOf(session, payment);
  const state = pageState(session, payment, progress, now);
  const overMs = now - session.expiresAt;
  const network = NETWORK_NAMES[session.network];
  return {
    ...facts,
    progress,
    state,
    network,
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
