import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { amountOf, subtract, ZERO } from "../../../ledger/money/amount.ts";
import type { Rule } from "../harness.ts";
import { ENOUGH, isTaken, signPayout } from "../helpers.ts";

/** See the name of each. */
export function balanceRules(rule: Rule): void {
  rule("a balance counts money once it is solid, in and out", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const to = chain.deriveAddress(1);
    const before = await chain.balanceOf(chain.hotWallet, currency);
    assertEquals(await chain.balanceOf(to, currency), ZERO);
    await harness.pay({ to, asset: currency, amount: amountOf("5") });
    const { payment, signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(1);
    assertEquals(await chain.balanceOf(to, currency), ZERO);
    assertEquals(await chain.balanceOf(chain.hotWallet, currency), before);
    await harness.mine(ENOUGH);
    assertEquals(await chain.balanceOf(to, currency), amountOf("5"));
    assertEquals(
      await chain.balanceOf(chain.hotWallet, currency),
      subtract(before, payment.amount),
    );
  });

  rule(
    "every supported currency has a balance, an address without account has none",
    async (harness) => {
      const { chain } = harness;
      await harness.mine(ENOUGH);
      const unused = harness.freshAddress();
      for (const asset of [...chain.capabilities.currencies, "native" as const]) {
        assertGreaterOrEqual(await chain.balanceOf(chain.hotWallet, asset), ZERO);
        assertEquals(await chain.balanceOf(unused, asset), ZERO);
      }
    },
  );
}
