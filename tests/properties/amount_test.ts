import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  add,
  type Amount,
  amountOf,
  cutTo,
  formatAmount,
  fromTokenUnits,
  fromUnits,
  isExactIn,
  negate,
  parseAmount,
  subtract,
  toTokenUnits,
  ZERO,
} from "../../ledger/money/amount.ts";

const LARGEST = 10n ** 38n - 1n;

const amounts: fc.Arbitrary<Amount> = fc.oneof(
  fc.bigInt({ min: -LARGEST, max: LARGEST }),
  fc.bigInt({ min: -1_000n, max: 1_000n }),
  fc.bigInt({ min: -1_000_000n, max: 1_000_000n }).map((whole) => whole * 10n ** 18n),
).map(fromUnits);
const positive = amounts.map((amount) => amount < 0n ? negate(amount) : amount);
const decimals = fc.integer({ min: 0, max: 18 });
const digits = (from: number, to: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: from, maxLength: to });

/** Text as merchants may write it. */
const written = fc.tuple(digits(1, 20), fc.option(digits(1, 18)))
  .map(([whole, fraction]) => fraction === null ? whole : `${whole}.${fraction}`);

Deno.test("every amount survives being printed and read again", () => {
  fc.assert(fc.property(amounts, (amount) => {
    assertEquals(amountOf(formatAmount(amount)), amount);
  }));
});

Deno.test("every printed amount has the canonical form", () => {
  fc.assert(fc.property(amounts, (amount) => {
    const text = formatAmount(amount);
    assert(/^(0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d{0,17}[1-9])$/.test(text), text);
  }));
});

Deno.test("printing is the identity on canonical text", () => {
  fc.assert(fc.property(written, (text) => {
    const once = formatAmount(amountOf(text));
    assertEquals(formatAmount(amountOf(once)), once);
  }));
});

Deno.test("what is read is worth exactly what was written", () => {
  fc.assert(fc.property(written, (text) => {
    const [whole = "", fraction = ""] = text.split(".");
    assertEquals(parseAmount(text), fromUnits(BigInt(whole + fraction.padEnd(18, "0"))));
  }));
});

Deno.test("text is accepted exactly when it has the documented shape", () => {
  // the library's own unit of every character makes a table of all of Unicode first
  const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  const anyText = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."0123456789.-+eE, ٣\n"), maxLength: 24 }),
    fc.string({ unit: character, maxLength: 8 }),
    written,
  );
  fc.assert(fc.property(anyText, (text) => {
    const documented = /^[0-9]+(\.[0-9]{1,18})?$/.test(text) && !text.endsWith("\n") &&
      (text.split(".")[0] ?? "").length <= 20;
    assertEquals(parseAmount(text) !== null, documented, JSON.stringify(text));
  }));
});

Deno.test("what is added can be taken away again without a trace", () => {
  fc.assert(fc.property(amounts, amounts, (a, b) => {
    assertEquals(subtract(add(a, b), b), a);
    assertEquals(add(a, b), add(b, a));
    assertEquals(add(a, negate(a)), ZERO);
  }));
});

Deno.test("a cut is exact, takes less than one last place and never changes the sign", () => {
  fc.assert(fc.property(amounts, decimals, (amount, places) => {
    const cut = cutTo(amount, places);
    const lost = subtract(amount, cut);
    assert(isExactIn(cut, places));
    assert((lost < 0n ? -lost : lost) < 10n ** BigInt(18 - places));
    assert(amount >= 0n ? cut >= 0n && lost >= 0n : cut <= 0n && lost <= 0n);
    assertEquals(cutTo(cut, places), cut);
  }));
});

Deno.test("token units and amounts translate into each other without loss", () => {
  fc.assert(fc.property(positive, decimals, (amount, places) => {
    const cut = cutTo(amount, places);
    assertEquals(fromTokenUnits(toTokenUnits(cut, places), places), cut);
  }));
});
