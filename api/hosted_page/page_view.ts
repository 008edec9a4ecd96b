import { type Amount, formatAmount } from "../../ledger/amount.ts";
import type { PageMerchant } from "../../ledger/queries/read_page_merchant.ts";
import type { SessionPayment } from "../../ledger/queries/read_hosted_payments.ts";
import type { SessionRow } from "../../ledger/queries/session_row.ts";
import { type Language, LANGUAGES } from "./language.ts";
import { NETWORK_NAMES, type NetworkName } from "./network_names.ts";
import { type PageState, pageState, type Progress, progressOf } from "./page_state.ts";
import type { Texts } from "./texts/texts.ts";

/** Everything that a hosted page is drawn from. */
export interface PageView {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  /** Who provides the page to the merchant, where somebody does. */
  readonly reseller: string | null;
  readonly progress: Progress;
  readonly state: PageState;
  readonly network: NetworkName;
  /** Whether money sent here may be worth nothing. */
  readonly isTest: boolean;
  readonly language: Language;
  readonly texts: Texts;
  /** Since the page's time was over, milliseconds; below zero while it lasts. */
  readonly overMs: number;
}

/** What a view is made of. */
export interface PageFacts {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
  readonly reseller: string | null;
  readonly isDevelopment: boolean;
  readonly language: Language;
  readonly now: number;
}

/** Draws the conclusions of the facts. */
export function pageView({ isDevelopment, now, ...facts }: PageFacts): PageView {
  const { session, payment, language } = facts;
  const progress = progressOf(session, payment);
  const network = NETWORK_NAMES[session.network];
  return {
    ...facts,
    progress,
    state: pageState(session, payment, progress, now),
    network,
    isTest: isDevelopment || network.isTest,
    texts: LANGUAGES[language],
    overMs: now - session.expiresAt,
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
