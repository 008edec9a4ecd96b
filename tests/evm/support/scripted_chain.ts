import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import type { OpenChain } from "../../../chains/family.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { HOT, USDT } from "./block_fixture.ts";
import type { ScriptedRpc } from "./scripted_rpc.ts";

/** The adapter of Ethereum on nodes whose answers are written by the test, in this order. */
export function chainOn(...nodes: readonly ScriptedRpc[]): OpenChain {
  return createEvmChain({
    network: "ETH",
    nodeUrls: nodes.map(({ url }) => url),
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
    feeCap: amountOf("0.02"),
  });
}
