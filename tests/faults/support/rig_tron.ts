import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../../chains/tron/pay/transfer_builder.ts";
import { someAddress } from "./chain_audit.ts";
import { readTransfers } from "./chain_transfers.ts";
import type { RigFamily } from "./rig_family.ts";

const NETWORK = "TRX";

/** TRON: transactions expire by block time, addresses pay for their own sweeps. */
export const TRON_RIG: RigFamily = {
  network: NETWORK,
  paths: {
    broadcast: "/wallet/broadcasttransaction",
    head: [
      "/wallet/getblock",
      "/wallet/getnowblock",
      "/wallet/getblockbynum",
      "/wallet/getblockbylimitnext",
      "/wallet/gettransactioninfobyblocknum",
    ],
    solid: [
      "/walletsolidity/getblockbynum",
      "/walletsolidity/getblockbylimitnext",
      "/walletsolidity/gettransactioninfobyblocknum",
    ],
    estimate: ["/wallet/triggerconstantcontract", "/wallet/getchainparameters"],
    funds: [
      "/walletsolidity/getblock",
      "/walletsolidity/getnowblock",
      "/walletsolidity/getaccount",
      "/walletsolidity/triggerconstantcontract",
    ],
    finality: "/walletsolidity/getnowblock",
    plan: [
      "/walletsolidity/triggerconstantcontract",
      "/walletsolidity/getaccount",
      "/wallet/triggerconstantcontract",
      "/wallet/getaccountresource",
    ],
  },
  seesHead: true,
  keepsHead: false,
  expires: true,
  sweepBy: "coin",
  baseFee: null,
  vanishesMs: 40_000,
  openChain: (options) =>
    createTronChain({
      network: NETWORK,
      ...options,
      // one that is asked less after each cell would only slow down the next
      callsPerSecond: 0,
    }),
  createBuilder: (contracts, lifetimeMs) =>
    createTronTransferBuilder({
      network: NETWORK,
      contracts,
      longestLifetimeMs: lifetimeMs,
      highestFeeLimitSun: 150_000_000,
      clockToleranceMs: null,
    }),
  readTransfers,
  someAddress,
};
