import type { PageMerchant } from "../../ledger/hosted_page.ts";
import type { PageState } from "./page_state.ts";

/** Where the customer goes from here. */
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
 * Where a terminal state leads, if the merchant has set it. Money that is on its way or too little
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
