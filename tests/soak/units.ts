/** Amounts as auditors count them, as fine as any chain's token, without any code of the product. */
const DECIMALS = 18;

/** One token. */
export const TOKEN = 10n ** BigInt(DECIMALS);
/** The finest amount that customers of a soak send. */
export const MILLIONTH = TOKEN / 1_000_000n;

/** A decimal as a count of 10^-18. @throws when it is finer or malformed */
export function unitsOf(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null) throw new RangeError(`Cannot count an amount: ${text}`);
  const [, sign, whole = "0", fraction = ""] = match;
  const units = BigInt(whole + fraction.padEnd(DECIMALS, "0"));
  return sign === "-" ? -units : units;
}

/** A count of 10^-18 as a decimal without superfluous zeros. */
export function textOf(units: bigint): string {
  const digits = String(units).padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  return digits.slice(0, -DECIMALS) + (fraction === "" ? "" : `.${fraction}`);
}
