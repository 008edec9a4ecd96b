import { assert, assertEquals, assertGreater, assertLessOrEqual, assertRejects } from "@std/assert";
import { ChainUnavailable } from "../../../chains/chain.ts";
import { add, amountOf, ZERO } from "../../../ledger/money/amount.ts";
import type { Kind, Rule } from "../harness.ts";
import {
  blocksSince,
  ENOUGH,
  envelopeOf,
  expiring,
  findIn,
  isTaken,
  signPayout,
} from "../helpers.ts";

/** See the name of each. */
export function feeRules(rule: Rule, kind: Kind): void {
  rule(
    "an estimate covers what the transfer then costs, for new and known receivers",
    async (harness) => {
      const { chain, currency } = harness;
      await harness.mine(ENOUGH);
      const to = harness.freshAddress();
      for (const amount of ["1", "123456.654321"]) {
        const { height } = await chain.head();
        const payment = { to, asset: currency, amount: amountOf(amount) };
        const estimate = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
        assertGreater(estimate.fee, ZERO);
        const envelope = await envelopeOf(chain, estimate);
        const signed = await harness.sign(payment, envelope);
        assert(isTaken(await chain.broadcast(signed)));
        await harness.mine(1);
        const found = findIn(await blocksSince(chain, height, "head"), signed.txid);
        assertEquals(found?.transaction.success, true);
        assertLessOrEqual(found?.transaction.fee ?? ZERO, estimate.fee);
      }
    },
  );

  rule("the chain's own coin can be sent, and its cost estimated", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const to = harness.freshAddress();
    for (const amount of kind.coin) {
      const before = await chain.balanceOf(to, "native");
      const { payment, signed } = await signPayout(harness, {
        to,
        asset: "native",
        amount: amountOf(amount),
      });
      const { fee } = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
      const { height } = await chain.head();
      assert(isTaken(await chain.broadcast(signed)));
      await harness.mine(ENOUGH);
      const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
      assertEquals(found?.transaction.success, true);
      assertLessOrEqual(found?.transaction.fee ?? ZERO, fee);
      assertEquals(await chain.balanceOf(to, "native"), add(before, payment.amount));
    }
  });

  rule("a transfer that would fail now has no estimate", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const from = harness.freshAddress();
    const error = await assertRejects(
      () =>
        chain.estimateFee([
          { from, to: chain.hotWallet, asset: currency, amount: amountOf("1") },
        ]),
      ChainUnavailable,
    );
    assertEquals(error.category, "reverted");
  });

  if (kind.life !== "expires") return;
  rule("an envelope dies after the chain's lifetime, by block time", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const solid = await chain.solid();
    const envelope = chain.envelope(solid, { fee: amountOf("1"), limit: amountOf("1") }, null);
    assertEquals(envelope.network, chain.network);
    const { ticks, ms } = expiring(chain);
    assertEquals(envelope.expiresAt, solid.time + ms);
    assertEquals(envelope.diesAfter, solid.tick + ticks);
    assertEquals(JSON.parse(JSON.stringify(envelope)), envelope);
  });
}
