/**
 * A family of chains, as composition roots, wallet and signer see it: all that is made of its folder
 * is made through this. A family is small itself; its adapter and its builder are loaded when a network
 * of it is first opened, so that families which are not used cost neither time nor memory.
 *
 * @module
 */

import type { DevChain, DevChainOptions } from "../devchain/options.ts";
import type { Amount } from "../ledger/money/amount.ts";
import type { Network } from "../ledger/money/pair.ts";
import type { AddressSource } from "./address_source.ts";
import type { NetworkNodes } from "./node_state.ts";
import type { FamilyName, SweepBy, TokenContracts } from "./profiles.ts";
import type { TransferBuilder } from "./signer.ts";
import type { Verifiable } from "./verified_chain.ts";

/** Nodes and addresses of a network that is opened. */
export interface OpenOptions {
  readonly network: Network;
  /** Base URLs; reads use them in this order, broadcasts go to all of them. */
  readonly nodeUrls: readonly string[];
  /** Key for the nodes' provider. */
  readonly apiKey?: string | undefined;
  readonly contracts: TokenContracts;
  /** Time between two blocks, milliseconds; default that of its profile. */
  readonly blockMs?: number;
  readonly deposits: AddressSource;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /** Calls per node and day (UTC) that its provider allows; default without a bound. */
  readonly dailyCalls?: number | undefined;
  /** Calls per node and second at most, 0 without a bound; default by where the node is. */
  readonly callsPerSecond?: number | undefined;
  /** Types of transactions whose receipts are believed without their proof, on chains that have such; default none. */
  readonly receiptTypes?: readonly number[];
  /** True for a development chain: its blocks may come at any time, and it has a number of its own. */
  readonly isDevelopment: boolean;
  /** True for a development chain that is treated as the network itself, but for its number; default false. */
  readonly isRehearsal?: boolean;
  /** Terms of transactions that are made; absent where the chain is only read. */
  readonly making?: {
    /** The most that one may cost, in coin. */
    readonly feeCap: Amount;
    /** Absent: the way that its chain has always. */
    readonly sweepBy?: SweepBy | undefined;
    /** Sweeps of one transaction, where the hot wallet sends them; default by the family. */
    readonly sweepsAtOnce?: number | undefined;
  };
}

/** A chain with the members that only its composition root and metrics need. */
export interface OpenChain extends Verifiable {
  readonly nodes: NetworkNodes;
}

/** A network that a signer signs for; its family knows the other bounds of what is signed there. */
export interface SignerNetwork {
  readonly network: Network;
  readonly contracts: TokenContracts;
  /** The most one transaction may cost, in coin. */
  readonly feeCap: Amount;
  /** True for a development chain, whose blocks may come at any time. */
  readonly isDevelopment: boolean;
  /** See {@linkcode OpenOptions.isRehearsal}. */
  readonly isRehearsal?: boolean;
  /** The way of sweeping that is signed for; absent: the one that its chain has always. */
  readonly sweepBy?: SweepBy | undefined;
}

/** One node that is asked by itself. */
export interface SingleNode {
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Bound of a request, milliseconds. */
  readonly requestTimeoutMs: number;
}

/** The program that a development chain runs beside this process. */
export interface DevelopmentProgram {
  readonly path: string;
  /** Programs that end it where its owner was killed. */
  readonly enders: readonly string[];
  /** Files and folders that it and its caller read. */
  readonly files: readonly string[];
}

/** A development chain lacks what it needs; the message is one line for the person who started it. */
export class DevelopmentMissing extends Error {
  override readonly name = "DevelopmentMissing";
}

/** The development chains of a family, which a payment is tried on without money. */
export interface Development {
  /**
   * Starts one in this thread.
   *
   * @returns once it listens
   * @throws when the options are wrong, the port is taken, or another process holds its folder
   */
  start(options: DevChainOptions): Promise<DevChain>;
  /**
   * The program that it needs; null: it is this service's own code.
   *
   * @throws {DevelopmentMissing} when this machine has none
   */
  program(): Promise<DevelopmentProgram | null>;
}

/** A fact of a node that was looked at. */
export interface NodeFinding {
  readonly what: string;
  readonly found: string;
  /** `bad`: the network cannot be used with the node; `note`: it can. */
  readonly verdict: "good" | "note" | "bad";
}

/** A family of chains. */
export interface Family {
  readonly name: FamilyName;
  /** The canonical spelling of an address, null for a text that is none; see `Chain.address`. */
  address(text: string): string | null;
  /** The canonical spelling of a transaction id, null for a text that names none; see `Chain.transactionId`. */
  transactionId(text: string): string | null;
  /** The address of a key of its wallets, 33 bytes, compressed. */
  encodeAddress(publicKey: Uint8Array): string;
  /** Loads the adapter that {@linkcode Family.open} would load first, so that something else can be waited for meanwhile. */
  load(): Promise<void>;
  /**
   * Opens a network; no request is sent yet.
   *
   * @throws {TypeError | RangeError} when a URL or an address is malformed
   */
  open(options: OpenOptions): Promise<OpenChain>;
  /** Makes what the signer builds transactions with. */
  builder(network: SignerNetwork): Promise<TransferBuilder>;
  /**
   * The chain that a node says it is of, null where it does not say.
   *
   * @throws {ChainUnavailable} when it does not answer
   */
  identityOf(node: SingleNode, signal: AbortSignal): Promise<string | null>;
  /**
   * True where a node is of a chain by the number that its transactions are signed for; absent: they carry none.
   *
   * @param network a development chain of it, where it is one or is rehearsed on
   * @throws {ChainUnavailable} when it does not answer
   */
  isOf?(
    node: SingleNode,
    network: { readonly network: Network; readonly isDevelopment: boolean },
    signal: AbortSignal,
  ): Promise<boolean>;
  readonly development: Development;
  /**
   * Looks at a node of the real network, for an operator; absent: there is no such look yet.
   *
   * @returns what it serves; that it does not answer is a fact as well
   */
  inspect?(
    node: SingleNode,
    network: { readonly network: Network; readonly contracts: TokenContracts },
    signal: AbortSignal,
  ): Promise<readonly NodeFinding[]>;
}
