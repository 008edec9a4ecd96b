import {
  assert,
  assertEquals,
  assertFalse,
  assertGreater,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { ZERO } from "../../../ledger/money/amount.ts";
import type { Kind, Rule } from "../harness.ts";
import { blocksSince, ENOUGH, essence, expiring, findIn, isTaken, signPayout } from "../helpers.ts";

/** See the name of each. */
export function broadcastRules(rule: Rule, kind: Kind): void {
  rule("a broadcast pays once, however often the same bytes are sent", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    assertEquals((await chain.broadcast(signed)).category, "accepted");
    assert(isTaken(await chain.broadcast(signed)), "sending again is no failure");
    await harness.mine(1);
    assertNotEquals((await chain.broadcast(signed)).category, "rejected");
    await harness.mine(ENOUGH);
    assertNotEquals((await chain.broadcast(signed)).category, "rejected");
    const blocks = await blocksSince(chain, height, "solid");
    const found = findIn(blocks, signed.txid);
    assertEquals(found?.transfers.map((transfer) => essence(chain, transfer)), [{
      from: chain.hotWallet,
      to: payment.to,
      currency,
      amount: payment.amount,
      logIndex: found?.transfers[0]?.logIndex ?? -1,
    }]);
    const times = blocks.flatMap((block) => block.transactions)
      .filter((included) => included.txid === signed.txid).length;
    assertEquals(times, 1);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
  });

  for (const trouble of ["accepted-silently", "answer-lost", "answer-missing"] as const) {
    rule(
      `a broadcast whose answer is bad (${trouble}) is unclear, and may have paid`,
      async (harness) => {
        const { chain } = harness;
        await harness.mine(ENOUGH);
        const { height } = await chain.head();
        const { signed } = await signPayout(harness);
        await harness.trouble(trouble, 1);
        const outcome = await chain.broadcast(signed);
        assertEquals(outcome.category, "unclear");
        assertEquals(outcome.retryable, true);
        await harness.mine(ENOUGH);
        const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
        assertEquals(found?.transaction.success, true);
      },
    );
  }

  rule("an accepted broadcast may be forgotten; the same bytes sent again pay", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    await harness.trouble("forgotten", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(2);
    assertEquals(findIn(await blocksSince(chain, height, "head"), signed.txid), null);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(1);
    assert(findIn(await blocksSince(chain, height, "head"), signed.txid) !== null);
  });

  rule("changed bytes are never taken", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    const other = await signPayout(harness);
    const mixed = { ...signed, bytes: other.signed.bytes };
    await assertRejects(() => chain.broadcast(mixed));
    await harness.mine(1);
    assertEquals(findIn(await blocksSince(chain, height, "head"), other.signed.txid), null);
    assertEquals(await chain.balanceOf(payment.to, harness.currency), ZERO);
  });

  if (kind.life !== "expires") return;
  rule("once expired, a transaction never lands", async (harness) => {
    const { chain, spacingMs } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    await harness.mine(Math.ceil(expiring(chain).ms / spacingMs) + ENOUGH);
    assertGreater((await chain.solid()).time, signed.expiresAt ?? Infinity);
    const outcome = await chain.broadcast(signed);
    assertFalse(isTaken(outcome), "an expired transaction must not be taken");
    await harness.mine(ENOUGH);
    assertEquals(findIn(await blocksSince(chain, height, "solid"), signed.txid), null);
  });
}
