import { assert, assertEquals, assertThrows } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { creationData, DEPLOYER } from "../../chains/evm/pay/sweep_delegate.ts";
import { expectedOf, withEmptied } from "../../chains/evm/read/estimate_fee.ts";
import { pricedWithin, pricedWithRoom } from "../../chains/evm/read/fee_market.ts";
import { transferData } from "../../chains/evm/token_contracts.ts";
import type { Movement } from "../../chains/fees.ts";
import { amountOf, formatAmount } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import type { AnvilReceipt } from "./support/bare_anvil.ts";
import type { Rig } from "./support/rig.ts";

const test = testNeeding({ net: true, run: true, read: true, env: true });

/** Has a wallet send all its tokens away, in the next block. */
async function empty({ anvil, usdt, faucet }: Rig, wallet: string, units: bigint): Promise<void> {
  await anvil.rpc("anvil_impersonateAccount", wallet);
  await anvil.rpc("anvil_setBalance", wallet, "0xde0b6b3a7640000");
  const data = transferData(faucet, units);
  await anvil.rpc("eth_sendTransaction", { from: wallet, to: usdt, data, gas: "0x30000" });
  await anvil.mine();
}

test("a payout is paid where its receiver is emptied between its estimate and its block", async () => {
  const { startRig } = await import("./support/rig.ts");
  await using rig = await startRig();
  const { chain, anvil, hot } = rig;
  const to = chain.deriveAddress(8);
  await rig.pay(to, 5_000_000n);
  await anvil.mine(3);
  const movement = { from: hot.address, to, asset: "USDT", amount: amountOf("10") } as const;
  const fee = await chain.estimateFee([movement]);
  const signed = rig.sign(movement, fee, 0);
  await empty(rig, to, 5_000_000n);
  assertEquals((await chain.broadcast(signed)).category, "accepted");
  // what replaces it has the same room, and is expected to cost the same gas
  const { life } = chain.capabilities;
  assert(life.kind === "nonce");
  const higher = (await life.lane.asks()).replacing([signed.bytes]);
  assert(higher !== null && higher.terms?.gas === fee.terms?.gas);
  await anvil.mine();
  const receipt = await anvil.rpc<AnvilReceipt>("eth_getTransactionReceipt", signed.txid);
  assertEquals([receipt.status, receipt.logs.length], ["0x1", 1]);
});

test("sweeps that share a transaction are paid where the hot wallet is emptied before it", async () => {
  const { startRig } = await import("./support/rig.ts");
  await using rig = await startRig("--hardfork", "prague");
  const { anvil, faucet, hot } = rig;
  const chain = rig.open([anvil.url], "delegate");
  const data = creationData(hot.address);
  await anvil.rpc("eth_sendTransaction", { from: faucet, to: DEPLOYER, data, gas: "0x100000" });
  const movements: Movement[] = [];
  for (let index = 0; index < 3; index++) {
    const from = chain.deriveAddress(index);
    await rig.pay(from, 10_000_000n);
    movements.push({ from, to: hot.address, asset: "USDT", amount: amountOf("10") });
  }
  await anvil.mine(3);
  const signed = rig.signSweeps(movements, await chain.estimateFee(movements), 1);
  await empty(rig, hot.address, 1_000_000_000_000n);
  assertEquals((await chain.broadcast(signed)).category, "accepted");
  await anvil.mine();
  const receipt = await anvil.rpc<AnvilReceipt>("eth_getTransactionReceipt", signed.txid);
  assertEquals([receipt.status, receipt.logs.length], ["0x1", 3]);
});

Deno.test("the room for an emptied receiver gives way to the cap: nothing is above the cap for it", () => {
  const need = withEmptied(45_000n, 54_000n);
  assertEquals(need, { expected: 45_000n, limit: 70_000n, least: 54_000n });
  const GWEI = 10n ** 9n;
  const gasAt = (gwei: bigint, priced = pricedWithin) =>
    priced(need, { base: gwei * GWEI, tip: 0n }, amountOf("0.02")).terms?.gas;
  assertEquals(gasAt(100n), 70_000);
  assertEquals(gasAt(300n), 66_666);
  assertEquals(gasAt(370n), 54_054);
  assertThrows(() => gasAt(371n), ChainUnavailable);
  // twice the base fee has to fit for one that several share
  assertEquals(gasAt(150n, pricedWithRoom), 66_666);
  assertThrows(() => gasAt(186n, pricedWithRoom), ChainUnavailable);
});

Deno.test("the gas that is expected of a signed transaction is that of its estimate", () => {
  for (const gas of [43_000n, 60_000n, 125_000n, 640_000n]) {
    const { limit } = withEmptied(gas, gas * 12n / 10n);
    assertEquals(expectedOf(limit), gas);
  }
  assertEquals(expectedOf(25_200n), 21_000n, "a transfer of coin has no such room");
});

test("a transfer to oneself is estimated as one to another holder, whose balance is another", async () => {
  const { startRig } = await import("./support/rig.ts");
  await using rig = await startRig();
  const { chain, anvil, hot } = rig;
  const holder = chain.deriveAddress(9);
  await rig.pay(holder, 5_000_000n);
  await anvil.mine(3);
  const feeTo = async (to: string) => {
    const movement = {
      from: hot.address,
      to,
      asset: "USDT",
      amount: amountOf("0.000001"),
    } as const;
    return (await chain.estimateFee([movement])).fee;
  };
  const [itself, other, fresh] = [
    await feeTo(hot.address),
    await feeTo(holder),
    await feeTo(chain.deriveAddress(10)),
  ];
  const words = [itself, other, fresh].map(formatAmount).join(", ");
  assert(itself >= other && itself * 100n <= other * 103n && fresh > itself, words);
});
