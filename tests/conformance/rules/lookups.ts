import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { type Checkpoint, NotOurChain } from "../../../chains/chain.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { Rule } from "../harness.ts";
import { blocksSince, ENOUGH, findIn, isTaken, signPayout } from "../helpers.ts";

/** See the name of each. */
export function lookupRules(rule: Rule): void {
  rule("a transaction reads the same by its id as in its block", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const payments = [3, 4].map((index) => ({
      to: chain.deriveAddress(index),
      asset: currency,
      amount: amountOf(`${index}.5`),
    }));
    const txid = await harness.payTogether(payments);
    assertNotEquals((await chain.transaction(txid, "head")).kind, "found");
    await harness.mine(1);
    assertEquals(await chain.transaction(txid, "solid"), { kind: "missing", txid });
    const seen = await chain.transaction(txid, "head");
    const inBlock = findIn(await blocksSince(chain, height, "head"), txid);
    assert(inBlock !== null);
    const { block, transaction, transfers } = inBlock;
    assertEquals(seen, {
      kind: "found",
      transaction: { ...transaction, height: block.height, time: block.time, transfers },
    });
    assertEquals(transfers.length, 2);
    await harness.mine(ENOUGH);
    assertEquals(await chain.transaction(txid, "solid"), seen);
  });

  rule("a failed transaction is found by its id, failed and without transfers", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { signed } = await signPayout(harness);
    await harness.trouble("fails-on-chain", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(ENOUGH);
    const found = await chain.transaction(signed.txid, "solid");
    assert(found.kind === "found");
    assertEquals(found.transaction.success, false);
    assert(found.transaction.failure !== null);
    assertEquals(found.transaction.transfers, []);
  });

  rule("a transaction without its receipt is incomplete, and found later", async (harness) => {
    const { chain, currency } = harness;
    const txid = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(ENOUGH);
    await harness.trouble("receipts-late", 1);
    assertEquals((await chain.transaction(txid, "solid")).kind, "incomplete");
    assertEquals((await chain.transaction(txid, "solid")).kind, "found");
  });

  rule("what has to come from a chain with a checkpoint comes from no other", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const txid = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(ENOUGH);
    const checkpoint = await chain.solid();
    const { height } = checkpoint;
    const transaction = (mark: Checkpoint) => chain.transaction(txid, "solid", undefined, mark);
    // the newest three: on some chains there is nothing between two heights
    const from = (await blocksSince(chain, 1, "solid")).at(-3)?.height ?? 0;
    const blocks = async (mark: Checkpoint) => {
      const answers = chain.blocks(from, height, "solid", undefined, mark);
      return (await Array.fromAsync(answers)).map(({ kind }) => kind);
    };
    assertEquals(await transaction(checkpoint), await chain.transaction(txid, "solid"));
    assertEquals(await blocks(checkpoint), ["block", "block", "block"]);
    const later = { height: height + 1, hash: checkpoint.hash };
    await assertRejects(() => transaction(later), NotOurChain);
    await assertRejects(() => blocks(later), NotOurChain);
    assertEquals(await blocks(checkpoint), ["block", "block", "block"], "behind is not wrong");
    await assertRejects(() => transaction({ height, hash: checkpoint.parentHash }), NotOurChain);
  });

  rule("what names no transaction is missing", async ({ chain }) => {
    for (const txid of ["", "0", "x".repeat(64), "../getnowblock"]) {
      assertEquals(await chain.transaction(txid, "solid"), { kind: "missing", txid });
    }
  });

  rule("what never happened is missing", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { signed } = await signPayout(harness);
    for (const view of ["head", "solid"] as const) {
      assertEquals(await chain.transaction(signed.txid, view), {
        kind: "missing",
        txid: signed.txid,
      });
    }
  });
}
