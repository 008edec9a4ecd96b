import { type Amount, formatAmount } from "../../ledger/amount.ts";

/** An amount with the decimals that its currency is written with, or more where it has more. */
export function fiatText(amount: Amount, currency: string): string {
  const { maximumFractionDigits: decimals = 0 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  const [whole = "", fraction = ""] = formatAmount(amount).split(".");
  const padded = fraction.padEnd(decimals, "0");
  return padded === "" ? whole : `${whole}.${padded}`;
}
