/** USDT on TRON in its smallest unit, as auditors count: millionths, without any code of the product. */
const DECIMALS = 6;

/** A decimal as a count of millionths. @throws when it is finer or malformed */
export function unitsOf(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new RangeError(`Cannot count in millionths: ${text}`);
  const [, sign, whole = "0", fraction = ""] = match;
  const units = BigInt(whole + fraction.padEnd(DECIMALS, "0"));
  return sign === "-" ? -units : units;
}

/** A count of millionths as a decimal without superfluous zeros. */
export function textOf(units: bigint): string {
  const digits = String(units).padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  return digits.slice(0, -DECIMALS) + (fraction === "" ? "" : `.${fraction}`);
}
