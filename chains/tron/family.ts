/**
 * TRON as a family of chains.
 *
 * @module
 */

import { toTokenUnits } from "../../ledger/money/amount.ts";
import type { Family } from "../family.ts";
import { MOST_AHEAD_MS } from "../nodes/believed_nodes.ts";
import { addressOfPublicKey, tronAddress } from "./address.ts";
import { CLOCK_TOLERANCE_MS, DEVELOPMENT_LIFETIME_MS, LIFETIME_MS } from "./terms.ts";
import { TRX_DECIMALS } from "./token_contracts.ts";
import { tronTransactionId } from "./transaction_id.ts";

/** A third of the time between two blocks. */
const LEAST_BLOCK_MS = 1_000;

/** A cap of fees in sun, which nodes take as a number. */
function sunOf(feeCap: Parameters<typeof toTokenUnits>[0]): number {
  return Number(toTokenUnits(feeCap, TRX_DECIMALS));
}

/** See {@linkcode Family}. */
export const TRON: Family = {
  name: "tron",
  address: tronAddress,
  transactionId: tronTransactionId,
  encodeAddress: addressOfPublicKey,
  async load() {
    await import("./tron_chain.ts");
  },
  async open(
    { apiKey, dailyCalls, callsPerSecond, isDevelopment, isRehearsal = false, making, ...options },
  ) {
    const { createTronChain } = await import("./tron_chain.ts");
    return createTronChain({
      ...options,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(dailyCalls === undefined ? {} : { dailyCalls }),
      ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
      ...(isDevelopment || isRehearsal ? {} : { mostAheadMs: MOST_AHEAD_MS }),
      ...(making === undefined ? {} : {
        lifetimeMs: isDevelopment ? DEVELOPMENT_LIFETIME_MS : LIFETIME_MS,
        highestFeeLimitSun: sunOf(making.feeCap),
        checksIdentity: true,
        ...(isDevelopment ? {} : { leastBlockMs: LEAST_BLOCK_MS }),
      }),
    });
  },
  async builder({ network, contracts, feeCap, isDevelopment }) {
    const { createTronTransferBuilder } = await import("./pay/transfer_builder.ts");
    return createTronTransferBuilder({
      network,
      contracts,
      longestLifetimeMs: LIFETIME_MS,
      highestFeeLimitSun: sunOf(feeCap),
      clockToleranceMs: isDevelopment ? null : CLOCK_TOLERANCE_MS,
    });
  },
  async identityOf(node, signal) {
    const { firstBlockOf } = await import("./tron_chain.ts");
    return await firstBlockOf(node, signal);
  },
  development: {
    async start(options) {
      const { startDevChain } = await import("../../devchain/start.ts");
      return await startDevChain(options);
    },
    program: () => Promise.resolve(null),
  },
};
