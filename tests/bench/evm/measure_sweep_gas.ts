/**
 * Gas of the collection from addresses, by what a node charges for it.
 *
 * @module
 */

import { creationData, DEPLOYER } from "../../../chains/evm/pay/sweep_delegate.ts";
import type { Movement } from "../../../chains/fees.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { AnvilReceipt } from "../../evm/support/bare_anvil.ts";
import { startRig } from "../../evm/support/rig.ts";
import type { EvmMeasurement } from "./evm_report.ts";

const ADDRESSES = 20;

/** Measures the first collection from twenty addresses, and a later one. */
export async function measureSweepGas(): Promise<readonly EvmMeasurement[]> {
  await using rig = await startRig("--hardfork", "prague");
  const chain = rig.open([rig.anvil.url], "delegate");
  await rig.anvil.rpc("eth_sendTransaction", {
    from: rig.faucet,
    to: DEPLOYER,
    data: creationData(rig.hot.address),
    gas: "0x100000",
  });
  await rig.anvil.mine();
  const gasOf = async (nonce: number) => {
    const movements: Movement[] = [];
    for (let index = 0; index < ADDRESSES; index++) {
      const from = chain.deriveAddress(index);
      await rig.pay(from, 10_000_000n);
      movements.push({ from, to: rig.hot.address, asset: "USDT", amount: amountOf("9.5") });
    }
    await rig.anvil.mine(3);
    const signed = rig.signSweeps(movements, await chain.estimateFee(movements), nonce);
    await chain.broadcast(signed);
    await rig.anvil.mine(3);
    const receipt = await rig.anvil.rpc<AnvilReceipt>("eth_getTransactionReceipt", signed.txid);
    if (receipt.status !== "0x1") throw new Error("Cannot measure as the collection failed");
    return Number(receipt.gasUsed) / ADDRESSES;
  };
  const first = await gasOf(0);
  const later = await gasOf(1);
  return [
    {
      name: "gas of a sweep per address, 20 in one, the first time",
      value: first,
      asked: { most: 34_000 },
    },
    {
      name: "gas of a sweep per address, 20 in one, later",
      value: later,
      asked: { most: 19_000 },
    },
  ];
}
