import { assert, assertEquals } from "@std/assert";
import { Decimal } from "decimal.js";
import fc from "fast-check";
import {
  add,
  type Amount,
  formatAmount,
  fromUnits,
  isExactIn,
  subtract,
} from "../../ledger/money/amount.ts";
import {
  depositFees,
  portionDown,
  roundTo,
  topUpFees,
  withdrawalFees,
} from "../../ledger/money/fees.ts";

const decimals = fc.constantFrom(6, 18);

/** Any amount, as an administrator may set a fee: of more decimals than a token has. */
const setting: fc.Arbitrary<Amount> = fc.bigInt({ min: 0n, max: 10n ** 22n }).map(fromUnits);

/** A rate with up to 18 decimals, at most 1. */
const rate = fc.bigInt({ min: 0n, max: 10n ** 18n }).map((units) =>
  units === 10n ** 18n ? "1" : `0.${units.toString().padStart(18, "0")}`
);

/** An amount and the decimals of its token. */
const paid = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 26n }), decimals)
  .map(([units, places]) => [fromUnits(units * 10n ** BigInt(18 - places)), places] as const);

Deno.test("what a withdrawal costs can be paid in its token, and adds up", () => {
  fc.assert(fc.property(paid, setting, rate, ([amount, places], baseFee, markupRate) => {
    const networkFee = roundTo(baseFee, places);
    const fees = withdrawalFees(
      amount,
      { enabled: true, baseFee, markupRate },
      networkFee,
      places,
    );
    assert(isExactIn(fees.commission, places));
    assertEquals(fees.grossAmount, add(amount, fees.totalFees));
    assertEquals(fees.totalFees, add(fees.commission, fees.networkFee));
    assertEquals(fees.commission, add(fees.baseFee, fees.markupAmount));
    // half up: at most half a last place away from what was set
    const place = 10n ** BigInt(18 - places);
    const off = subtract(fees.baseFee, baseFee) * 2n;
    assert(off <= place && off > -place, String(off));
  }));
});

Deno.test("what a deposit leaves its merchant can be paid out in its token, and adds up", () => {
  fc.assert(
    fc.property(
      paid,
      setting,
      rate,
      fc.boolean(),
      fc.boolean(),
      ([amount, places], flatFee, commissionRate, exempt, activates) => {
        for (
          const fees of [
            depositFees(amount, commissionRate, exempt, activates, places),
            topUpFees(amount, flatFee, exempt, places),
          ]
        ) {
          assert(isExactIn(fees.receivable, places) && fees.receivable >= 0n);
          const taken = add(add(fees.commission, fees.activationFee), fees.flatFee);
          assertEquals(add(fees.receivable, taken), amount);
          if (exempt) assertEquals(fees.receivable, amount);
        }
      },
    ),
  );
});

Deno.test("a portion is the product in 60 digits, rounded once: half up, of margins down", () => {
  const Exact = Decimal.clone({ precision: 60, toExpNeg: -60, toExpPos: 60 });
  fc.assert(fc.property(setting, rate, decimals, (amount, markupRate, places) => {
    const product = new Exact(formatAmount(amount)).times(markupRate);
    const { markupAmount } = withdrawalFees(
      amount,
      { enabled: true, baseFee: fromUnits(0n), markupRate },
      fromUnits(0n),
      places,
    );
    const down = portionDown(amount, markupRate, places);
    assertEquals(
      [formatAmount(markupAmount), formatAmount(down)],
      [Decimal.ROUND_HALF_UP, Decimal.ROUND_DOWN].map((mode) =>
        product.toDecimalPlaces(places, mode).toFixed()
      ),
    );
  }));
});
