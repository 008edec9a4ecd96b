import { assert, assertEquals, assertRejects } from "@std/assert";
import { type BlockAnswer, ChainUnavailable, NotOurChain } from "../../chains/chain.ts";
import { weiAmount } from "../../chains/evm/pay/envelope.ts";
import { amountOf, formatAmount, subtract } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import type { Rig } from "./support/rig.ts";

const test = testNeeding({ net: true, run: true, read: true, env: true });

/** Runs a rule on a rig of its own. */
function rule(name: string, run: (rig: Rig) => Promise<void>): void {
  test(name, async () => {
    const { startRig } = await import("./support/rig.ts");
    await using rig = await startRig();
    await run(rig);
  });
}

async function read(blocks: AsyncIterable<BlockAnswer>): Promise<readonly BlockAnswer[]> {
  return await Array.fromAsync(blocks);
}

/** Heights of whole blocks, and the kind of the answer that is none. */
function shapeOf(answers: readonly BlockAnswer[]): readonly (number | string)[] {
  return answers.map((answer) => answer.kind === "block" ? answer.block.height : answer.kind);
}

rule(
  "blocks are read in order with the transfers of both tokens, up to what is final",
  async (rig) => {
    const { chain, anvil, usdc, hot } = rig;
    const deposit = chain.deriveAddress(1);
    const txid = await rig.pay(deposit, 12_500_000n);
    await rig.pay(deposit, 700_000n, usdc);
    await anvil.mine();
    const head = await chain.head();
    assertEquals((await chain.solid()).height, head.height - 2);
    assertEquals(shapeOf(await read(chain.blocks(1, head.height, "head"))).length, head.height);
    assertEquals(
      shapeOf(await read(chain.blocks(head.height - 3, head.height, "solid"))),
      [head.height - 3, head.height - 2, "missing"],
    );
    const answer = await chain.block(head.height, "head");
    assert(answer.kind === "block");
    assertEquals(
      answer.block.transfers.map(({ currency, amount, eventTo, txid }) => [
        currency,
        formatAmount(amount),
        chain.addressOf(eventTo),
        txid,
      ]),
      [
        ["USDT", "12.5", deposit, txid],
        ["USDC", "0.7", deposit, answer.block.transactions[1]?.txid],
      ],
    );
    assertEquals(
      answer.block.parentHash,
      (await chain.block(head.height - 1, "head") as {
        block: { hash: string };
      }).block.hash,
    );
    assertEquals(await chain.block(head.height, "solid"), { kind: "missing", height: head.height });
    assertEquals(chain.eventAddress(hot.address), hot.address.slice(2).toLowerCase());
  },
);

rule("a payout is estimated, signed, sent, found, and its nonce used up", async (rig) => {
  const { chain, anvil, hot } = rig;
  const to = chain.deriveAddress(2);
  const life = chain.capabilities.life;
  assert(life.kind === "nonce");
  assertEquals(await life.lane.next(hot.address, "solid"), 0);
  const movement = { from: hot.address, to, asset: "USDT", amount: amountOf("250") } as const;
  const fee = await chain.estimateFee([movement]);
  const signed = rig.sign(movement, fee, 0);
  assertEquals(chain.termsOf(signed.bytes, 0), {
    beginning: null,
    diesAfter: null,
    nonce: 0,
    feeLimit: fee.limit,
  });
  assertEquals((await chain.broadcast(signed)).category, "accepted");
  assertEquals((await chain.broadcast(signed)).category, "known");
  assertEquals((await chain.transaction(signed.txid, "head")).kind, "incomplete");
  assertEquals(await life.lane.sent(signed.txid), null);
  await anvil.mine();
  assertEquals((await chain.broadcast(signed)).category, "unclear", "the nonce is used, by itself");
  const found = await chain.transaction(signed.txid.slice(2).toUpperCase(), "head");
  assert(found.kind === "found");
  const { success, byHotWallet, transfers, fee: paid } = found.transaction;
  assertEquals([success, byHotWallet, transfers.length], [true, true, 1]);
  assert(paid <= fee.limit && paid > 0n, `${paid} of ${fee.limit}`);
  // a node's word for the price is under no root: base fee and the transaction's own terms are what it has paid
  for (const told of [paid, amountOf("900"), amountOf("0")]) {
    assertEquals(chain.feeOf?.({ ...found.transaction, fee: told }, signed.bytes), paid);
  }
  const dear = { ...found.transaction, charged: { units: 50_000, base: 10n ** 30n } };
  assertEquals(
    chain.feeOf?.(dear, signed.bytes),
    weiAmount(50_000n * BigInt(fee.terms?.maxFeePerGas ?? 0)),
    "it offered no more",
  );
  assertEquals((await chain.transaction(signed.txid, "solid")).kind, "missing", "it is not final");
  assertEquals(await life.lane.sent(signed.txid), {
    eventFrom: chain.eventAddress(hot.address),
    nonce: 0,
    bytes: signed.bytes,
  });
  assertEquals(await life.lane.next(hot.address, "head"), 1);
  assertEquals((await chain.furthest()).nonce, 1);
  assertEquals(await life.lane.next(hot.address, "solid"), 0);
  await anvil.mine(2);
  assertEquals((await chain.transaction(signed.txid, "solid")).kind, "found");
  const checkpoint = await chain.solid();
  assertEquals(await life.lane.next(hot.address, "solid", undefined, checkpoint), 1);
  assertEquals(formatAmount(await chain.balanceOf(to, "USDT", undefined, checkpoint)), "250");
});

rule(
  "a transaction that is in no block is replaced by one with its nonce, and by a cancel",
  async (rig) => {
    const { chain, anvil, hot } = rig;
    const movement = {
      from: hot.address,
      to: chain.deriveAddress(3),
      asset: "native",
      amount: amountOf("1"),
    } as const;
    const life = chain.capabilities.life;
    assert(life.kind === "nonce");
    const fee = await chain.estimateFee([movement]);
    const first = rig.sign(movement, fee, 0);
    assertEquals((await chain.broadcast(first)).category, "accepted");
    const ask = await life.lane.asks();
    assertEquals(ask.isPassedOver(first.bytes), false);
    const higher = ask.replacing([first.bytes]);
    assert(higher !== null && higher.limit > fee.limit);
    const second = rig.sign(movement, higher, 0);
    assertEquals((await chain.broadcast(second)).category, "accepted");
    const cancel = ask.cancelling([first.bytes, second.bytes]);
    assert(cancel !== null);
    // a rise of what blocks ask leaves the earlier ones behind
    await anvil.rpc("anvil_setNextBlockBaseFeePerGas", "0x174876e800");
    await anvil.mine();
    const dearer = await life.lane.asks();
    assertEquals(dearer.isPassedOver(first.bytes), true);
  },
);

rule(
  "what costs more than its address holds does not have to be outbid, as no node keeps it",
  async (rig) => {
    const { chain, hot } = rig;
    const to = chain.deriveAddress(3);
    const movement = { from: hot.address, to, asset: "USDT", amount: amountOf("1") } as const;
    const fee = await chain.estimateFee([movement]);
    const { bytes } = rig.sign(movement, fee, 0);
    const { life } = chain.capabilities;
    assert(life.kind === "nonce");
    const ask = await life.lane.asks();
    // a node may keep it, and takes nothing that does not pay more
    const kept = ask.within(fee.limit);
    assertEquals([kept.replacing([bytes]), kept.cancelling([bytes]) === null], [null, false]);
    const coin = subtract(fee.limit, amountOf("0.000000000000000001"));
    const cheaper = ask.within(coin).replacing([bytes]);
    assert(cheaper !== null && cheaper.limit <= coin, "it was stuck at its own price");
    assertEquals(cheaper.terms?.gas, fee.terms?.gas);
  },
);

rule("terms above the cap are none: a replacement waits, an estimate says so", async (rig) => {
  const { chain, anvil, hot } = rig;
  const movement = {
    from: hot.address,
    to: chain.deriveAddress(3),
    asset: "USDT",
    amount: amountOf("1"),
  } as const;
  const signed = rig.sign(movement, await chain.estimateFee([movement]), 0);
  // 0.02 of coin are 20 million gwei: 300 gwei for 66,000 gas
  await anvil.rpc("anvil_setNextBlockBaseFeePerGas", `0x${(400n * 10n ** 9n).toString(16)}`);
  await anvil.mine();
  const refused = await assertRejects(() => chain.estimateFee([movement]), ChainUnavailable);
  assertEquals(refused.category, "above-cap");
  const { life } = chain.capabilities;
  assert(life.kind === "nonce");
  assertEquals((await life.lane.asks()).replacing([signed.bytes]), null);
});

rule("a transfer that would fail is not estimated", async (rig) => {
  const { chain, hot } = rig;
  const transfer = (amount: string) =>
    chain.estimateFee([{
      from: hot.address,
      to: chain.deriveAddress(3),
      asset: "USDT",
      amount: amountOf(amount),
    }]);
  const refused = await assertRejects(() => transfer("1000001"), ChainUnavailable);
  assertEquals(refused.category, "reverted");
  assert((await transfer("1")).fee > 0n);
});

rule("switches of a token are read where it has them", async (rig) => {
  const { chain, anvil, usdt, usdc } = rig;
  const holder = chain.deriveAddress(4);
  const off = { isPaused: false, keepsPart: false, successor: null, isBlocked: false };
  assertEquals(await chain.tokenSwitches("USDT", holder), off);
  assertEquals(await chain.tokenSwitches("USDC", holder), off);
  await rig.set(usdt, "setParams", 10, 50_000_000);
  await rig.set(usdt, "block_", holder, true);
  await rig.set(usdt, "deprecate", usdc);
  await rig.set(usdc, "pause", true);
  await anvil.mine();
  assertEquals(await chain.tokenSwitches("USDT", holder), {
    isPaused: false,
    keepsPart: true,
    successor: chain.addressOf(usdc.slice(2)),
    isBlocked: true,
  });
  assertEquals(await chain.tokenSwitches("USDC", holder), { ...off, isPaused: true });
});

rule("a token that keeps a fee gives two transfers, and what arrives is credited", async (rig) => {
  const { chain, anvil, usdt } = rig;
  const deposit = chain.deriveAddress(5);
  await rig.set(usdt, "setParams", 100, 50_000_000);
  await anvil.mine();
  await rig.pay(deposit, 10_000_000n);
  await anvil.mine();
  const answer = await chain.block((await chain.head()).height, "head");
  assert(answer.kind === "block");
  assertEquals(answer.block.transfers.map(({ amount }) => formatAmount(amount)), ["9.9", "0.1"]);
});

rule(
  "a balance is that of the checkpoint's block, or waits for a node that has it",
  async (rig) => {
    const { chain, anvil } = rig;
    const holder = chain.deriveAddress(6);
    await rig.pay(holder, 5_000_000n);
    await anvil.mine(3);
    const before = await chain.solid();
    await rig.pay(holder, 1_000_000n);
    await anvil.mine(3);
    const after = await chain.solid();
    const held = async (checkpoint?: { height: number; hash: string }) =>
      formatAmount(await chain.balanceOf(holder, "USDT", undefined, checkpoint));
    assertEquals([await held(before), await held(after), await held()], ["5", "6", "6"]);
    assertEquals(formatAmount(await chain.balanceOf(holder, "native", undefined, after)), "0");
    const ahead = { height: after.height + 50, hash: `0x${"ab".repeat(32)}` };
    await assertRejects(() => held(ahead), NotOurChain);
    await assertRejects(() => held({ ...after, hash: `0x${"ab".repeat(32)}` }), NotOurChain);
  },
);

rule("what an address needs for its own sweep is coin for one transaction", async (rig) => {
  const { chain, anvil, hot } = rig;
  const from = chain.deriveAddress(7);
  await rig.pay(from, 9_000_000n);
  await anvil.mine(3);
  const costs = await chain.gas?.sweepCosts({
    from,
    to: hot.address,
    currency: "USDT",
    amount: amountOf("9"),
  });
  assert(costs !== undefined);
  assertEquals([costs.isActive, costs.coin, costs.stakeNeeded], [true, 0n, null]);
  assert(costs.cost > 0n && costs.costAtMost > costs.cost && costs.costByCoin > costs.cost);
});

rule("a sweep offers no more than its address holds, while blocks would take that", async (rig) => {
  const { chain, anvil, hot } = rig;
  const from = chain.deriveAddress(7);
  await rig.pay(from, 9_000_000n);
  await anvil.mine(3);
  const sweep = { from, to: hot.address, currency: "USDT", amount: amountOf("9") } as const;
  const bare = await chain.gas?.sweepCosts(sweep);
  assert(bare !== undefined);
  const { cost, enough, costAtMost } = bare;
  assert(cost < enough && enough < costAtMost && bare.fee.limit === costAtMost);
  const hold = async (coin: bigint) => {
    await anvil.rpc("anvil_setBalance", from, `0x${coin.toString(16)}`);
    await anvil.mine(3);
    return await chain.gas?.sweepCosts(sweep);
  };
  // base fees fall with each empty block: what it needed is enough by now
  const some = await hold(enough);
  assert(some !== undefined && some.fee.limit <= enough && some.fee.limit > 0n);
  assert(some.coin >= some.cost);
  const none = await hold(1n);
  assert(none !== undefined && none.coin < none.cost && none.fee.limit === none.costAtMost);
});

rule("the chain's number is asked for: another one's node is not believed", async (rig) => {
  const { startAnvil } = await import("./support/bare_anvil.ts");
  await using other = await startAnvil("--chain-id", "1");
  const chain = rig.open([other.url]);
  await assertRejects(() => chain.head(), ChainUnavailable);
  assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain"]);
  const both = rig.open([other.url, rig.anvil.url]);
  assertEquals((await both.head()).hash, (await rig.chain.head()).hash);
});

rule("contracts of tokens are checked by their decimals, and are no destinations", async (rig) => {
  const { chain, usdt } = rig;
  await chain.verify();
  assertEquals(chain.address(usdt), null);
  assertEquals(chain.address(chain.deriveAddress(1).toLowerCase()), chain.deriveAddress(1));
});

rule("a block that was taken back is read as the one that took its place", async (rig) => {
  const { chain, anvil } = rig;
  await rig.pay(chain.deriveAddress(1), 1_000_000n);
  await anvil.mine();
  const before = await chain.head();
  await anvil.rpc("anvil_reorg", 1, []);
  const after = await chain.block(before.height, "head");
  assert(after.kind === "block");
  assertEquals([after.block.hash === before.hash, after.block.transfers.length], [false, 0]);
});
