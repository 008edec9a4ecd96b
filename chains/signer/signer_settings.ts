/**
 * Settings of a signer.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { TokenContracts } from "../tron/token_contracts.ts";
import type { ColdAddresses } from "./destination_rule.ts";
import type { Limits } from "./spending_limits.ts";

/** A TRON network the worker signs for. */
export interface SignerNetwork {
  readonly network: Network;
  readonly contracts: TokenContracts;
  /** The longest a transaction may live past its reference block, in milliseconds. */
  readonly longestLifetimeMs: number;
  /** The most one transaction may burn, in sun. */
  readonly highestFeeLimitSun: number;
  /** Milliseconds by which block time may be behind the wall clock; `null`: any distance. */
  readonly clockToleranceMs: number | null;
}

/** Settings of a signer, in a worker or in a process of its own. */
export interface SignerSettings {
  /** The signer's own connection, with a role that may only read intents. */
  readonly databaseUrl: string;
  readonly walletFile: string;
  readonly passphraseFile: string;
  readonly networks: readonly SignerNetwork[];
  readonly limits?: Limits;
  readonly coldAddresses?: ColdAddresses;
}
