import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChainUnavailable } from "../../../chains/chain.ts";
import type { Movement } from "../../../chains/fees.ts";
import { add, amountOf, ZERO } from "../../../ledger/money/amount.ts";
import type { ChainHarness, Kind, Rule } from "../harness.ts";
import { blocksSince, ENOUGH, envelopeOf, essence, findIn, isTaken } from "../helpers.ts";

/** Addresses of the batch that is tried. */
const INDEXES = [5, 6, 7];

/** Pays some deposit addresses, and the movements that bring all of it to the hot wallet. */
async function paidIn(harness: ChainHarness): Promise<readonly Movement[]> {
  const { chain, currency } = harness;
  await harness.mine(ENOUGH);
  const movements = INDEXES.map((index, place): Movement => ({
    from: chain.deriveAddress(index),
    to: chain.hotWallet,
    asset: currency,
    amount: amountOf(`${place + 1}.25`),
  }));
  for (const { from, asset, amount } of movements) await harness.pay({ to: from, asset, amount });
  await harness.mine(ENOUGH);
  return movements;
}

/**
 * Signs the movements as one transaction of the hot wallet, on the solid block.
 *
 * @param behind transactions of the wallet that wait in front of it
 */
async function signSweeps(harness: ChainHarness, movements: readonly Movement[], behind = 0) {
  const { chain } = harness;
  if (harness.signSweeps === undefined) {
    throw new Error("Cannot sweep several addresses as this chain's hot wallet sends none");
  }
  const fee = await chain.estimateFee(movements);
  const { nonce } = await envelopeOf(chain, fee);
  const place = nonce === null ? null : nonce + behind;
  return await harness.signSweeps(movements, chain.envelope(await chain.solid(), fee, place));
}

/** Rules of one transaction with several movements: on most chains, that there is none. */
export function sweepRules(rule: Rule, { sweeps }: Kind): void {
  rule("what one transaction cannot carry has no estimate", async (harness) => {
    const { chain } = harness;
    const movements = await paidIn(harness);
    const first = movements[0];
    assert(first !== undefined);
    const tooMany = Array.from({ length: chain.capabilities.sweepsAtOnce + 1 }, () => first);
    await assertRejects(() => chain.estimateFee(tooMany), RangeError);
    const payouts = INDEXES.map(() => ({ ...first, from: chain.hotWallet, to: first.from }));
    await assertRejects(() => chain.estimateFee(payouts), RangeError);
  });

  if (sweeps === "one by one") return;
  rule("several sweeps of one transaction are told one by one", async (harness) => {
    const { chain, currency } = harness;
    const movements = await paidIn(harness);
    const before = await chain.balanceOf(chain.hotWallet, currency);
    const { height } = await chain.head();
    const signed = await signSweeps(harness, movements);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(ENOUGH);
    const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
    assertEquals(found?.transaction.success, true);
    assertEquals(found?.transaction.byHotWallet, true);
    assertEquals(
      found?.transfers.map((transfer) => essence(chain, transfer)),
      movements.map(({ from, to, amount }, place) => ({
        from,
        to,
        currency,
        amount,
        logIndex: found?.transfers[place]?.logIndex ?? -1,
      })),
    );
    for (const { from } of movements) assertEquals(await chain.balanceOf(from, currency), ZERO);
    assertEquals(
      await chain.balanceOf(chain.hotWallet, currency),
      movements.reduce((sum, { amount }) => add(sum, amount), before),
    );
  });

  rule("one sweep that would fail fails all of its transaction", async (harness) => {
    const { chain, currency } = harness;
    const movements = await paidIn(harness);
    const [first, ...others] = movements;
    assert(first !== undefined);
    const tooMuch = [...others, { ...first, amount: add(first.amount, amountOf("1")) }];
    const error = await assertRejects(() => chain.estimateFee(tooMuch), ChainUnavailable);
    assertEquals(error.category, "reverted");
    const { height } = await chain.head();
    // its estimate is good; when it runs, one of the addresses has nothing any more
    const alone = await signSweeps(harness, [first]);
    const late = await signSweeps(harness, movements, 1);
    assert(isTaken(await chain.broadcast(alone)));
    assert(isTaken(await chain.broadcast(late)));
    await harness.mine(ENOUGH);
    const found = findIn(await blocksSince(chain, height, "solid"), late.txid);
    assertEquals(found?.transaction.success, false);
    assertEquals(found?.transfers, []);
    for (const { from, amount } of others) {
      assertEquals(await chain.balanceOf(from, currency), amount);
    }
  });
}
