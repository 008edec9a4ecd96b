import { formatAmount } from "../../ledger/money/amount.ts";
import type { SessionRow } from "../../ledger/sessions.ts";

/** The address of a hosted payment page, with what the merchant wants it to show. */
export function sessionUrl(
  publicUrl: string,
  token: string,
  session: Pick<
    SessionRow,
    "referenceId" | "requestedAmount" | "requestedCurrency" | "token"
  >,
): string {
  const { referenceId, requestedAmount, requestedCurrency } = session;
  const shown = new URLSearchParams();
  if (referenceId !== null) shown.set("ref", referenceId);
  if (requestedAmount !== null && requestedCurrency !== null) {
    shown.set("amount", formatAmount(requestedAmount));
    shown.set("currency", requestedCurrency);
  }
  if (session.token !== null) shown.set("token", session.token);
  const query = shown.size === 0 ? "" : `?${shown}`;
  return `${publicUrl}/deposit/${token}${query}`;
}
