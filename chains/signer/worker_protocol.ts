/**
 * Messages between the service and its signer worker. Everything is structured-clone safe; key
 * material is in none of them.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { RememberedSignature, SignAnswer, SignRequest } from "../signer.ts";
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
  /** How far block time may be behind the wall clock, in milliseconds; `null`: any distance. */
  readonly clockToleranceMs: number | null;
}

/** What a signer is started with, in a worker or in a process of its own. */
export interface SignerSettings {
  /** The signer's own connection, with a role that may only read intents. */
  readonly databaseUrl: string;
  readonly walletFile: string;
  readonly passphraseFile: string;
  readonly networks: readonly SignerNetwork[];
  readonly limits?: Limits;
  readonly coldAddresses?: ColdAddresses;
}

/** From the service to the worker. */
export type ToWorker =
  | { readonly kind: "start"; readonly settings: SignerSettings; readonly paused: boolean }
  | { readonly kind: "sign"; readonly id: number; readonly requests: readonly SignRequest[] }
  | { readonly kind: "live"; readonly id: number; readonly outgoingIds: readonly string[] }
  | { readonly kind: "pause"; readonly paused: boolean }
  | { readonly kind: "close" };

/** From the worker to the service. */
export type FromWorker =
  | { readonly kind: "ready"; readonly walletId: string }
  | { readonly kind: "start-failed"; readonly message: string }
  | { readonly kind: "answers"; readonly id: number; readonly answers: readonly SignAnswer[] }
  | {
    readonly kind: "remembered";
    readonly id: number;
    readonly signatures: readonly RememberedSignature[];
  }
  | { readonly kind: "failed"; readonly id: number; readonly message: string }
  | { readonly kind: "closed" };
