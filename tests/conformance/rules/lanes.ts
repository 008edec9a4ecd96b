import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { Chain } from "../../../chains/chain.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { Kind, Rule } from "../harness.ts";
import { blocksSince, ENOUGH, findIn, isTaken, signPayout } from "../helpers.ts";

/** The lane of a chain whose transactions are ended by their nonces. */
function laneOf({ capabilities: { life } }: Chain) {
  if (life.kind === "nonce") return life.lane;
  throw new Error("Cannot use a lane as transactions of this chain expire");
}

/** See the name of each. */
export function laneRules(rule: Rule, { life }: Kind): void {
  if (life !== "nonce") return;
  rule("an envelope has its sender's nonce, and dies by that alone", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const movement = { from: chain.hotWallet, to: harness.freshAddress(), asset: currency };
    const fee = await chain.estimateFee([{ ...movement, amount: amountOf("1") }]);
    const envelope = chain.envelope(await chain.solid(), fee, 7);
    assertEquals([envelope.nonce, envelope.diesAfter, envelope.expiresAt], [7, null, null]);
    assertEquals(JSON.parse(JSON.stringify(envelope)), envelope);
    assertThrows(() => chain.envelope(NO_BLOCK, fee, null), RangeError);
  });

  rule(
    "a nonce is used once a block has its transaction, and counted when that is solid",
    async (harness) => {
      const { chain } = harness;
      await harness.mine(ENOUGH);
      const lane = laneOf(chain);
      const first = await lane.next(chain.hotWallet, "solid");
      const { signed } = await signPayout(harness);
      assertEquals(chain.termsOf(signed.bytes, 0).nonce, first);
      assertEquals(await lane.sent(signed.txid), null);
      assert(isTaken(await chain.broadcast(signed)));
      assertEquals(await lane.next(chain.hotWallet, "head"), first);
      await harness.mine(1);
      assertEquals(await lane.next(chain.hotWallet, "head"), first + 1);
      assertEquals(await lane.next(chain.hotWallet, "solid"), first);
      const eventFrom = chain.eventAddress(chain.hotWallet);
      assertEquals(await lane.sent(signed.txid), {
        eventFrom,
        nonce: first,
        bytes: signed.bytes,
      });
      await harness.mine(ENOUGH);
      const checkpoint = await chain.solid();
      assertEquals(await lane.next(chain.hotWallet, "solid", undefined, checkpoint), first + 1);
      assertEquals(await lane.next(harness.freshAddress(), "solid"), 0);
    },
  );

  rule("a replacement is taken in place of the earlier bytes, and pays once", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    const ask = await laneOf(chain).asks();
    assertFalse(ask.isPassedOver(signed.bytes));
    const fee = ask.replacing([signed.bytes]);
    assert(fee !== null);
    const { nonce } = chain.termsOf(signed.bytes, 0);
    const second = await harness.sign(payment, chain.envelope(await chain.solid(), fee, nonce));
    assert(isTaken(await chain.broadcast(second)));
    await harness.mine(ENOUGH);
    const blocks = await blocksSince(chain, height, "solid");
    assertEquals(findIn(blocks, signed.txid), null);
    assert(findIn(blocks, second.txid)?.transaction.success === true);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
    // whose nonce is used pays no more, whatever a node says to it
    await chain.broadcast(signed);
    await harness.mine(ENOUGH);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
  });

  rule("a transaction of the hot wallet is marked, another party's is not", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    const other = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(1);
    const blocks = await blocksSince(chain, height, "head");
    assertEquals(findIn(blocks, signed.txid)?.transaction.byHotWallet, true);
    assertEquals(findIn(blocks, other)?.transaction.byHotWallet, undefined);
  });
}

const NO_BLOCK = { height: 0, parentHeight: 0, hash: "", parentHash: "", time: 0, tick: 0 };
