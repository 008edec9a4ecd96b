import { assert, assertEquals, assertGreater } from "@std/assert";
import { amountOf, ZERO } from "../../../ledger/money/amount.ts";
import type { Rule } from "../harness.ts";
import { blocksSince, ENOUGH, findIn, isTaken, signPayout } from "../helpers.ts";

/** See the name of each. */
export function transferRules(rule: Rule): void {
  rule("a payment is seen at the head and is the same once solid", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const to = chain.deriveAddress(7);
    const txid = await harness.pay({ to, asset: currency, amount: amountOf("12.345678") });
    assertEquals(findIn(await blocksSince(chain, height, "head"), txid), null);
    await harness.mine(1);
    const seen = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(findIn(await blocksSince(chain, height, "solid"), txid), null);
    await harness.mine(ENOUGH);
    const solid = findIn(await blocksSince(chain, height, "solid"), txid);
    assertEquals(solid, seen);
    assertEquals(seen?.transaction.success, true);
    assertEquals(seen?.transaction.failure, null);
    const [transfer, ...more] = seen?.transfers ?? [];
    assert(transfer !== undefined && more.length === 0);
    assertEquals(chain.addressOf(transfer.eventTo), to);
    assertEquals(transfer.currency, currency);
    assertEquals(transfer.amount, amountOf("12.345678"));
    const from = chain.addressOf(transfer.eventFrom);
    assertEquals(chain.address(from), from);
    assertGreater(transfer.expiresAt, seen?.block.time ?? Infinity);
  });

  rule("several transfers of one transaction are told apart by their index", async (harness) => {
    const { chain, currency } = harness;
    const { height } = await chain.head();
    const payments = [3, 4, 3].map((index, i) => ({
      to: chain.deriveAddress(index),
      asset: currency,
      amount: amountOf(`${i + 1}`),
    }));
    const txid = await harness.payTogether(payments);
    await harness.mine(1);
    const found = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(
      found?.transfers.map(({ eventTo, currency: asset, amount }) => ({
        to: chain.addressOf(eventTo),
        asset,
        amount,
      })),
      payments,
    );
    const indexes = found?.transfers.map((transfer) => transfer.logIndex) ?? [];
    assertEquals(new Set(indexes).size, payments.length);
    assertEquals(indexes, indexes.toSorted((a, b) => a - b));
  });

  rule("worthless look-alikes are no transfers", async (harness) => {
    const { chain } = harness;
    const { height } = await chain.head();
    const txid = await harness.poison(chain.deriveAddress(0));
    await harness.mine(1);
    const found = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(found?.transaction.success, true);
    assertEquals(found?.transfers, []);
  });

  rule("a failed transaction is there, failed, paid for, and moved nothing", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    await harness.trouble("fails-on-chain", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(ENOUGH);
    const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
    assert(found !== null, "a failed transaction must not be missing");
    assertEquals(found.transaction.success, false);
    assert(found.transaction.failure !== null && found.transaction.failure !== "");
    assertGreater(found.transaction.fee, ZERO);
    assertEquals(found.transfers, []);
    assertEquals(await chain.balanceOf(payment.to, currency), ZERO);
  });
}
