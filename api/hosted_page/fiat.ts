import { type Amount, formatAmount } from "../../ledger/money/amount.ts";

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
