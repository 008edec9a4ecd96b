import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  add,
  amountOf,
  cutTo,
  formatAmount,
  fromTokenUnits,
  fromUnits,
  isExactIn,
  max,
  min,
  negate,
  parseAmount,
  subtract,
  toTokenUnits,
  ZERO,
} from "../../ledger/money/amount.ts";

Deno.test("an amount is read and printed to the last of 18 decimals", () => {
  assertEquals(formatAmount(amountOf("0.000000000000000001")), "0.000000000000000001");
  assertEquals(
    formatAmount(amountOf("99999999999999999999.999999999999999999")),
    "99999999999999999999.999999999999999999",
  );
  assertEquals(parseAmount("1"), fromUnits(10n ** 18n));
});

Deno.test("the printed form has no trailing zeros, no bare point and no exponent", () => {
  const forms: readonly (readonly [string, string])[] = [
    ["100.000", "100"],
    ["0.50", "0.5"],
    ["000.10", "0.1"],
    ["0", "0"],
    ["0.0", "0"],
    ["00012", "12"],
    ["10000000000000000000", "10000000000000000000"],
    ["-0", "0"],
    ["-1.250", "-1.25"],
  ];
  for (const [written, printed] of forms) assertEquals(formatAmount(amountOf(written)), printed);
});

Deno.test("text of any other shape is refused, never guessed", () => {
  const refused = [
    "",
    " 1",
    "1 ",
    "1\n",
    "1.",
    ".5",
    ".",
    "-1",
    "+1",
    "1e3",
    "1E3",
    "0x10",
    "1_000",
    "1,5",
    "1,000.5",
    "1.2.3",
    "NaN",
    "Infinity",
    "null",
    "1n",
    "1.0000000000000000000", // 19 decimals
    "100000000000000000000", // 21 digits
    "000000000000000000001", // 21 digits, zeros in front count
    "١٢٣", // Arabic-Indic
    "１２", // full width
    "1.٢",
    "²",
    "1\u00a0",
    "1\0",
    "−1", // U+2212
  ];
  for (const text of refused) assertEquals(parseAmount(text), null, JSON.stringify(text));
});

Deno.test("a sign is read only in what this program wrote itself", () => {
  assertEquals(amountOf("-0.5"), negate(amountOf("0.5")));
  for (const text of ["--1", "-", "- 1", "+1", "1e3", "-1."]) {
    assertThrows(() => amountOf(text), RangeError, "Cannot read an amount");
  }
});

Deno.test("decimal fractions add up exactly", () => {
  assertEquals(add(amountOf("0.1"), amountOf("0.2")), amountOf("0.3"));
  assertEquals(subtract(amountOf("0.3"), amountOf("0.1")), amountOf("0.2"));
  assertEquals(subtract(ZERO, amountOf("1")), amountOf("-1"));
  assertEquals(min(amountOf("2"), amountOf("-3")), amountOf("-3"));
  assertEquals(max(amountOf("2"), amountOf("-3")), amountOf("2"));
});

Deno.test("a cut goes towards zero and never adds money", () => {
  assertEquals(cutTo(amountOf("1.9999999"), 6), amountOf("1.999999"));
  assertEquals(cutTo(amountOf("-1.9999999"), 6), amountOf("-1.999999"));
  assertEquals(cutTo(amountOf("0.0000009"), 6), ZERO);
  assertEquals(cutTo(amountOf("1.5"), 0), amountOf("1"));
  assertEquals(cutTo(amountOf("1.000000000000000001"), 18), amountOf("1.000000000000000001"));
});

Deno.test("an amount that is not exact in a token's decimals never becomes token units", () => {
  assert(isExactIn(amountOf("1.123456"), 6));
  assertFalse(isExactIn(amountOf("1.1234567"), 6));
  assertEquals(toTokenUnits(amountOf("1.123456"), 6), 1_123_456n);
  assertThrows(() => toTokenUnits(amountOf("1.1234567"), 6), RangeError, "digits would be lost");
  assertEquals(toTokenUnits(amountOf("0.000000000000000001"), 18), 1n);
  assertEquals(fromTokenUnits(1n, 6), amountOf("0.000001"));
});
