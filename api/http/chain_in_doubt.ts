import type { ChainInDoubt } from "../../actors/watcher/chain_in_doubt.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { unavailable } from "./errors.ts";

/** Why the scan of a network does not go on, as far as this service knows; null while it does. */
export function whyStopped({ scanOf }: Pick<ApiContext, "scanOf">, network: Network) {
  return scanOf?.(network).status?.stopped ?? null;
}

/** 503: no node of the network can be believed now. A merchant is not told why. */
export function cannotBelieve(network: Network): Answer {
  return unavailable(`Blocks of ${network} cannot be relied on just now; nothing was credited.`);
}

/**
 * 503 for staff, with the reason.
 *
 * @param done what was done all the same, as the beginning of a sentence
 */
export function cannotBelieveAs({ reason }: ChainInDoubt, done = "Nothing was done"): Answer {
  return unavailable(`${done}, as the chain cannot be relied on: ${reason}`);
}
