import { assert, assertEquals, assertThrows } from "@std/assert";
import { Decimal } from "decimal.js";
import fc from "fast-check";
import { type Amount, formatAmount, fromUnits, parseAmount } from "../../ledger/money/amount.ts";
import { formatQuote, quoteAmount } from "../../rates/quote.ts";

const Exact = Decimal.clone({ precision: 200 });
const amount = (text: string): Amount => {
  const parsed = parseAmount(text);
  assert(parsed !== null, text);
  return parsed;
};
const decimal = fc.bigInt({ min: 1n, max: 10n ** 30n }).map((units) => fromUnits(units));

Deno.test("a quote never under-pays, and by less than one step never over-pays", () => {
  fc.assert(fc.property(decimal, decimal, (fiat, rateUnits) => {
    const rate = formatAmount(rateUnits);
    const quote = quoteAmount(fiat, rate);
    const requested = new Exact(formatAmount(fiat));
    if (quote === null) {
      assert(requested.dividedBy(rate).greaterThanOrEqualTo("1e20"));
      return;
    }
    const paid = new Exact(formatAmount(quote));
    assert(paid.times(rate).greaterThanOrEqualTo(requested));
    assert(paid.minus("0.00000001").times(rate).lessThan(requested));
    assert(/^\d{1,20}\.\d{8}$/.test(formatQuote(quote)), formatQuote(quote));
    assertEquals(new Exact(formatQuote(quote)).toFixed(), paid.toFixed());
  }));
});

Deno.test("quotes as customers see them", () => {
  const cases = [
    ["100", "7.15", "13.98601399"],
    ["1", "3", "0.33333334"],
    ["10", "1", "10.00000000"],
    ["0.000000000000000001", "1", "0.00000001"],
    ["99999999999999999999", "1", "99999999999999999999.00000000"],
    // a quotient of 60 digits would end in zeros here, and the last step would be lost
    ["1.000000000000000001", "1", "1.00000001"],
  ] as const;
  for (const [fiat, rate, expected] of cases) {
    const quote = quoteAmount(amount(fiat), rate);
    assert(quote !== null);
    assertEquals(formatQuote(quote), expected);
  }
  assertEquals(quoteAmount(amount("99999999999999999999"), "0.5"), null);
  for (const rate of ["0", "-1", "1e3", ""]) assertThrows(() => quoteAmount(amount("1"), rate));
});
