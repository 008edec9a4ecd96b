/**
 * The families of chains that there are. Nothing else lists them.
 *
 * @module
 */

import { type Network, NETWORKS } from "../ledger/money/pair.ts";
import { EVM_DEVELOPMENT } from "./evm/development.ts";
import type { Development, Family } from "./family.ts";
import { type FamilyName, PROFILES } from "./profiles.ts";
import { TRON } from "./tron/family.ts";

const FAMILIES: Readonly<Partial<Record<FamilyName, Family>>> = { tron: TRON };

/**
 * The networks that a family serves. The others are part of the interface, where their pairs are
 * closed; their settings are refused, as nothing would be done with them.
 */
export const SERVED_NETWORKS: readonly Network[] = NETWORKS.filter((network) =>
  FAMILIES[PROFILES[network].family] !== undefined
);

/**
 * The family of a network.
 *
 * @throws {TypeError} when none serves it yet
 */
export function familyOf(network: Network): Family {
  const family = FAMILIES[PROFILES[network].family];
  if (family !== undefined) return family;
  throw new TypeError(
    `Cannot use a network as it has no wallet support and no adapter yet: ${network}`,
  );
}

/** Development chains that there are before a family serves their networks. */
const DEVELOPMENTS: Readonly<Partial<Record<FamilyName, Development>>> = { evm: EVM_DEVELOPMENT };

/** The development chains of a network, null where it has none. */
export function developmentOf(network: Network): Development | null {
  const { family } = PROFILES[network];
  return FAMILIES[family]?.development ?? DEVELOPMENTS[family] ?? null;
}

/** The networks that have development chains. */
export const DEVELOPED_NETWORKS: readonly Network[] = NETWORKS.filter((network) =>
  developmentOf(network) !== null
);
