/**
 * Facts of a kind of chains that a rig, and the cells that are tried on it, go by. The engine is the same.
 *
 * @module
 */

import type { AddressSource } from "../../../chains/address_source.ts";
import type { OpenChain } from "../../../chains/family.ts";
import type { SweepBy, TokenContracts } from "../../../chains/profiles.ts";
import type { TransferBuilder } from "../../../chains/signer.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { ChainTransfer } from "./chain_transfers.ts";

/** Paths of a node, or methods, by what is read there; faults are put in force on them. */
export interface RigPaths {
  /** Transactions are offered to it. */
  readonly broadcast: string;
  /** Blocks of the head view. */
  readonly head: readonly string[];
  /** Blocks of the scan; the newest solid height stays readable, or nothing would show the lag. */
  readonly solid: readonly string[];
  /** The price of a transfer. */
  readonly estimate: readonly string[];
  /** Balances and the block that an envelope stands on. */
  readonly funds: readonly string[];
  /** The newest block that is final. */
  readonly finality: string;
  /** All that the planning of a sweep reads. */
  readonly plan: readonly string[];
}

/** Settings of an adapter of a rig. */
export interface RigChainOptions {
  readonly nodeUrls: readonly string[];
  readonly contracts: TokenContracts;
  readonly deposits: AddressSource;
  readonly hotWallet: string;
  /** Lifetime of the service's transactions in block time, milliseconds, where they expire. */
  readonly lifetimeMs: number;
  readonly requestTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** A kind of chains, with the network that stands for it. */
export interface RigFamily {
  readonly network: Network;
  readonly paths: RigPaths;
  /** True where the newest blocks are looked at before they are solid. */
  readonly seesHead: boolean;
  /** True where the scan has the blocks that the head view has read, so that they are read once. */
  readonly keepsHead: boolean;
  /** True where transactions of the service end by their expiry, false where their nonces end them. */
  readonly expires: boolean;
  /** Base fee of its blocks at the beginning, gwei; null: they have none. */
  readonly baseFee: string | null;
  /** Sender of its sweeps: the address itself, with coin that it is given, or the hot wallet. */
  readonly sweepBy: SweepBy;
  /** The least block time after which a deposit that has vanished can be in no block any more, milliseconds. */
  readonly vanishesMs: number;
  openChain(options: RigChainOptions): OpenChain;
  createBuilder(contracts: TokenContracts, lifetimeMs: number): TransferBuilder;
  /**
   * Every USDT transfer of a development chain up to its newest block, read without any code of the product's
   * adapter.
   *
   * @param from first block that is read
   */
  readTransfers(chainUrl: string, from?: number): Promise<readonly ChainTransfer[]>;
  /** An address that no wallet of a test has, different at every call. */
  someAddress(): string;
}
