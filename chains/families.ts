/**
 * The families of chains that there are. Nothing else lists them.
 *
 * @module
 */

import { type Network, NETWORKS } from "../ledger/money/pair.ts";
import { EVM } from "./evm/family.ts";
import type { Development, Family } from "./family.ts";
import { type FamilyName, PROFILES } from "./profiles.ts";
import { TRON } from "./tron/family.ts";

const FAMILIES: Readonly<Partial<Record<FamilyName, Family>>> = { tron: TRON, evm: EVM };
/** Families whose whole way works, from a deposit to its sweep; the others can be looked at. */
const SERVED: ReadonlySet<FamilyName> = new Set(["tron", "evm"]);

/**
 * The networks that a family serves. The others are part of the interface, where their pairs are
 * closed; their settings are refused, as nothing would be done with them.
 */
export const SERVED_NETWORKS: readonly Network[] = NETWORKS.filter((network) =>
  SERVED.has(PROFILES[network].family)
);

/** The networks that are open from the start; the others are served on request. */
export const FIRST_NETWORKS: readonly Network[] = SERVED_NETWORKS.filter((network) =>
  PROFILES[network].family === "tron"
);

/** The family of a network, served or not; undefined where there is none. */
export function knownFamilyOf(network: Network): Family | undefined {
  return FAMILIES[PROFILES[network].family];
}

/**
 * The family of a network.
 *
 * @throws {TypeError} when none serves it yet
 */
export function familyOf(network: Network): Family {
  const family = knownFamilyOf(network);
  if (family !== undefined && SERVED.has(family.name)) return family;
  throw new TypeError(
    `Cannot use a network as it has no wallet support and no adapter yet: ${network}`,
  );
}

/**
 * The spelling of a transaction id on a network, which needs no node: also where the network is not configured here.
 *
 * @returns null for a text that names no transaction, and on networks that no family knows
 */
export function transactionIdOn(network: Network, text: string): string | null {
  return knownFamilyOf(network)?.transactionId(text) ?? null;
}

/** The development chains of a network, null where it has none. */
export function developmentOf(network: Network): Development | null {
  return knownFamilyOf(network)?.development ?? null;
}

/** The networks that have development chains. */
export const DEVELOPED_NETWORKS: readonly Network[] = NETWORKS.filter((network) =>
  developmentOf(network) !== null
);
