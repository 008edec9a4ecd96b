import { assert, assertEquals } from "@std/assert";
import { Decimal } from "decimal.js";
import fc from "fast-check";
import { testsOfOneApi } from "../support/api.ts";
import { booksFaults, fund } from "../support/books.ts";
import { endPayout, pay } from "./support/chain.ts";
import { issueAddress, openOffice, openShop, PAYOUT } from "./support/shop.ts";
import { decimal } from "./support/shape.ts";
import { suite } from "./support/suite.ts";

const shared = testsOfOneApi("contract: amounts");
const rule = suite("Money");

const Exact = Decimal.clone({ precision: 80, toExpNeg: -80, toExpPos: 80 });

/** An amount on TRX: whole micro-units between two bounds, as a client may write it. */
function usdt(min: bigint, max: bigint): fc.Arbitrary<string> {
  return fc.tuple(fc.bigInt({ min, max }), fc.integer({ min: 0, max: 6 })).map(([micro, zeros]) => {
    const text = (micro / 1_000_000n) + "." + (micro % 1_000_000n).toString().padStart(6, "0");
    return text + "0".repeat(zeros);
  });
}

/** A rate with up to 18 decimals. */
const rate = fc.bigInt({ min: 0n, max: 10n ** 17n }).map((units) =>
  new Exact(units.toString()).div("1e18").toFixed()
);

shared(
  "Money: fees are rounded half up to the token, and grossAmount = amount + totalFees",
  async (api) => {
    const office = await openOffice(api);
    await fc.assert(
      fc.asyncProperty(
        usdt(1_000_000n, 10n ** 15n),
        rate,
        usdt(0n, 10n ** 8n),
        async (amount, markupRate, baseFee) => {
          const set = await office.post("/api/admin/withdrawal-fees", { markupRate, baseFee });
          assertEquals(set.status, 200);
          const { status, body } = await office.put("/api/admin/withdrawal-fees", {
            amount,
            currency: "USDT",
            network: "TRX",
          });
          assertEquals(status, 200);
          const { feeInfo } = body;
          const { feeBreakdown } = feeInfo;
          const markup = new Exact(amount).times(markupRate).toDecimalPlaces(
            6,
            Decimal.ROUND_HALF_UP,
          );
          assertEquals(feeBreakdown.markupAmount, markup.toFixed());
          assertEquals(feeBreakdown.baseFee, new Exact(baseFee).toFixed());
          const total = markup.plus(baseFee).plus(feeBreakdown.networkFee);
          assertEquals([feeInfo.totalFees, feeBreakdown.totalFee], [
            total.toFixed(),
            total.toFixed(),
          ]);
          assertEquals(feeInfo.netAmount, new Exact(amount).toFixed());
          assertEquals(feeInfo.grossAmount, new Exact(amount).plus(total).toFixed());
          for (const value of [feeInfo.grossAmount, feeInfo.netAmount, feeInfo.totalFees]) {
            assert(decimal(value), value);
          }
        },
      ),
      { numRuns: 60 },
    );
  },
);

shared(
  "Money: a withdrawal debits grossAmount, and its refund returns exactly that",
  async (api) => {
    const office = await openOffice(api);
    await office.post("/api/admin/withdrawal-fees", { markupRate: "0.0033", baseFee: "0.7" });
    const shop = await openShop(api, { funds: "100000" });
    await fc.assert(
      fc.asyncProperty(usdt(1_000_000n, 10n ** 10n), async (amount) => {
        const [before] = await shop.balance();
        const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, amount });
        assertEquals(status, 201);
        assertEquals(body.amount, new Exact(amount).toFixed());
        const [reserved] = await shop.balance();
        assertEquals(reserved, new Exact(before).minus(body.feeInfo.grossAmount).toFixed());
        await endPayout(api, body.withdrawalId, "failed");
        assertEquals(await shop.balance(), [before, "0"]);
      }),
      { numRuns: 15 },
    );
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule("a deposit credits its amount minus the commission, rounded half up, capped", async (api) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(usdt(1n, 10n ** 9n), { minLength: 1, maxLength: 5 }),
      rate,
      async (amounts, commissionRate) => {
        const shop = await openShop(api, { rate: commissionRate });
        const address = await issueAddress(shop);
        let expected = new Exact(0);
        let activated = false;
        for (const amount of amounts) {
          await pay(api, shop.id, address, new Exact(amount).toFixed());
          const whole = new Exact(amount);
          const row = await shop.newest("deposits");
          if (whole.lessThan(1)) {
            assertEquals([row.commission, row.fee], ["0", "0"]);
            expected = expected.plus(whole);
            continue;
          }
          const commission = Decimal.min(
            whole.times(commissionRate).toDecimalPlaces(6, Decimal.ROUND_HALF_UP),
            whole,
          );
          const rest = whole.minus(commission.toFixed());
          const fee = Decimal.min(activated ? "0" : "0.5", rest);
          activated = true;
          assertEquals([row.commission, row.fee], [commission.toFixed(), fee.toFixed()]);
          expected = expected.plus(rest.minus(fee.toFixed()));
        }
        assertEquals(await shop.balance(), [expected.toFixed(), "0"]);
      },
    ),
    { numRuns: 12 },
  );
  assertEquals(await booksFaults(api.sql), []);
});

rule("what is no decimal string of the contract is refused, never rounded", async (api) => {
  const shop = await openShop(api);
  await fund(api.sql, api.journal, shop.id, "1000");
  await api.sql`
    UPDATE book.merchant SET rate_limits = '{"withdrawals": 0}' WHERE merchant_id = ${shop.id}`;
  const malformed = fc.oneof(
    fc.string({ maxLength: 12 }).filter((text) => !/^-?\d{1,20}(\.\d{1,18})?$/.test(text)),
    fc.double(),
    fc.integer(),
    fc.constantFrom("1e3", "1,5", "1.", ".5", "+1", " 1", "1 ", "0x1", "١", "1_000", "NaN", "∞"),
    // more decimals than the token has
    fc.bigInt({ min: 1n, max: 9n }).map((digit) => `1.000000${digit}`),
  );
  await fc.assert(
    fc.asyncProperty(malformed, async (amount) => {
      const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, amount });
      assertEquals([status, body.error], [400, "Invalid request data"], String(amount));
    }),
    { numRuns: 120 },
  );
  assertEquals(await shop.balance(), ["1000", "0"]);
});

rule("a fiat quote is amount / rate with 8 decimals, rounded up, never under-paid", async (api) => {
  const shop = await openShop(api);
  await api.sql`
    UPDATE book.merchant SET rate_limits = '{"deposits": 0}' WHERE merchant_id = ${shop.id}`;
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      fc.constantFrom("USD", "EUR"),
      async (cents, requestedCurrency) => {
        const requestedAmount = new Exact(cents.toString()).div(100).toFixed();
        const { status, body } = await shop.post("/api/deposit-url", {
          network: "TRX",
          identifier: "a",
          requestedAmount,
          requestedCurrency,
        });
        assertEquals(status, 201);
        const exact = new Exact(requestedAmount).div(body.exchangeRate);
        assertEquals(body.amount, exact.toDecimalPlaces(8, Decimal.ROUND_UP).toFixed(8));
        assert(
          new Exact(body.amount).times(body.exchangeRate).greaterThanOrEqualTo(requestedAmount),
        );
      },
    ),
    { numRuns: 25 },
  );
});
