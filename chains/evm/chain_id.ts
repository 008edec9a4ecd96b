import type { Network } from "../../ledger/money/pair.ts";
import { PROFILES } from "../profiles.ts";

/** Added to the number of the chain that a development chain stands for: no real chain has such a number. */
const DEVELOPMENT = 1_337_000;

/**
 * The number that a network's transactions are signed for. A development chain has one of its own, so that
 * nothing that is signed there is valid on the chain it stands for.
 */
export function chainIdOf(network: Network, isDevelopment: boolean): number {
  const { chainId } = PROFILES[network];
  if (chainId === undefined) {
    throw new TypeError(`Cannot sign for a network as its chain has no number: ${network}`);
  }
  return isDevelopment ? DEVELOPMENT + chainId : chainId;
}
