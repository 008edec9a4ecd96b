import { z } from "zod";
import { getAddress } from "viem/utils";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import { createEvmTransferBuilder } from "../../../chains/evm/pay/transfer_builder.ts";
import type { SweepBy } from "../../../chains/profiles.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { ChainTransfer } from "./chain_transfers.ts";
import { send } from "./client.ts";
import type { RigFamily } from "./rig_family.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** The most that one transaction may cost, in coin: at 65,000 gas some 300 gwei each. */
const FEE_CAP = amountOf("0.02");
/** Time between two blocks, as far as the adapter asks for it; they are made on demand. */
const BLOCK_MS = 250;
const DAY_MS = 86_400_000;

const Info = z.object({ usdt: z.string() });
const Logs = z.object({
  result: z.array(z.object({
    topics: z.array(z.string()),
    data: z.string(),
    transactionHash: z.string(),
    logIndex: z.string(),
  })),
});

/** By the logs that the node finds itself, which the product never asks for. */
async function readTransfers(chainUrl: string, from = 1): Promise<readonly ChainTransfer[]> {
  const { usdt } = Info.parse((await send(`${chainUrl}/dev/info`, "GET")).body);
  const { body } = await send(chainUrl, "POST", {
    jsonrpc: "2.0",
    id: 1,
    method: "eth_getLogs",
    params: [{ address: usdt, topics: [TRANSFER], fromBlock: `0x${from.toString(16)}` }],
  });
  return Logs.parse(body).result.map(({ topics, data, transactionHash, logIndex }) => ({
    txid: transactionHash,
    logIndex: Number(logIndex),
    from: addressIn(topics[1] ?? ""),
    to: addressIn(topics[2] ?? ""),
    units: BigInt(data),
  }));
}

function addressIn(topic: string): string {
  return getAddress(`0x${topic.slice(-40)}`);
}

function evmRig(
  network: "ETH" | "BNB",
  seesHead: boolean,
  baseFee: string,
  sweepBy: SweepBy = "coin",
): RigFamily {
  return {
    network,
    paths: {
      broadcast: "eth_sendRawTransaction",
      head: ["eth_getBlockReceipts"],
      solid: ["eth_getBlockReceipts"],
      estimate: ["eth_estimateGas", "eth_feeHistory"],
      funds: ["eth_call", "eth_getBalance"],
      finality: "eth_getBlockByNumber",
      plan: ["eth_call", "eth_getBalance", "eth_estimateGas", "eth_feeHistory"],
    },
    seesHead,
    keepsHead: seesHead,
    expires: false,
    sweepBy,
    baseFee,
    vanishesMs: DAY_MS,
    openChain: ({ lifetimeMs: _, ...options }) =>
      createEvmChain({
        network,
        ...options,
        blockMs: BLOCK_MS,
        callsPerSecond: 0,
        isDevelopment: true,
        feeCap: FEE_CAP,
        sweepBy,
      }),
    createBuilder: (contracts) =>
      createEvmTransferBuilder({
        network,
        chainId: chainIdOf(network, true),
        contracts,
        feeCap: FEE_CAP,
        sweepBy,
      }),
    readTransfers,
    someAddress: () => getAddress(`0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`),
  };
}

/** Ethereum: nonces end transactions, the scan takes over the blocks that the head view has read. */
export const ETH_RIG: RigFamily = evmRig("ETH", true, "1");
/** The same, where the hot wallet collects from addresses that authorise its contract. */
export const ETH_DELEGATE_RIG: RigFamily = evmRig("ETH", true, "1", "delegate");
/** BNB Smart Chain: blocks are final before they could be seen, tokens have 18 decimals, no base fee is burnt. */
export const BNB_RIG: RigFamily = evmRig("BNB", false, "0");
