/**
 * The signer's ports. {@linkcode Signer} is the only way to a signature: the caller names outgoing
 * rows; the signer reads the committed intents itself and decides destination and amount from that, so
 * a treasury gone wrong can ask only for payments that were really decided. {@linkcode TransferBuilder}
 * is what it needs of each chain.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { Network } from "../ledger/money/pair.ts";
import type { Asset, Envelope, SignedTransaction } from "./chain.ts";

/** Reasons for which something leaves a wallet; each has destinations of its own. */
export type IntentKind =
  | "payout"
  | "settlement"
  | "sweep"
  | "gas"
  | "delegation"
  | "reclaim"
  | "cold";

/** The part of an outgoing row that the signer reads, over its own connection. */
export interface Intent {
  readonly outgoingId: string;
  readonly kind: IntentKind;
  readonly network: Network;
  /** A token, or the chain's own coin where an address is given what its sweep will burn. */
  readonly currency: Asset;
  readonly amount: Amount;
  readonly destination: string;
  /**
   * Derivation index under which the database knows the destination as the wallet's own, `null` when it does
   * not. A claim: the signer derives the address itself.
   */
  readonly destinationIndex: number | null;
  /** True if that address was handed out for the paying account, or for one not known any more. */
  readonly isDestinationClosed: boolean;
  /** Derivation index of the paying address, or `hot` for the hot wallet. */
  readonly wallet: "hot" | number;
  /** Whose transaction it is: the wallet's own, or the hot wallet's where that sends sweeps. */
  readonly payer: "hot" | number;
  readonly status: string;
  /**
   * Nonces of its transactions that blocks show as used, none of which has paid it. A claim: the signer looks
   * for each among its own signatures.
   */
  readonly usedNonces: readonly {
    readonly nonce: number;
    readonly txid: string;
    /** A transaction that the service did not sign has it, and an administrator has adopted that. */
    readonly isForeign?: boolean;
  }[];
}

/** Source of the signer's intents. */
export interface IntentSource {
  /** The intents that exist among the given ids, in any order. */
  read(outgoingIds: readonly string[]): Promise<readonly Intent[]>;
}

/** End of an `over-limit` message that no waiting helps: the transfer alone is too large. */
export const OVER_TRANSACTION_CAP = "per transaction";
/** End of an `over-limit` message that holds for what else is signed in these 24 hours. */
export const OVER_DAY_CAP = "per day";

/** The most requests in one call of {@linkcode Signer.sign}. */
export const LARGEST_BATCH = 1_000;

/** Purpose of a transaction: to pay its intents, or to take the nonce that was promised to them out of use. */
export type SignPurpose = "pay" | "cancel";

/** One request for a signature. */
export interface SignRequest {
  /**
   * The intents of the transaction, in their order in it, each once: of one network, kind and payer, and more than
   * one only where the hot wallet sends sweeps.
   */
  readonly outgoingIds: readonly string[];
  readonly envelope: Envelope;
  readonly purpose: SignPurpose;
}

/** Answer to one {@linkcode SignRequest}. */
export type SignAnswer =
  | { readonly outgoingIds: readonly string[]; readonly signed: SignedTransaction }
  | {
    readonly outgoingIds: readonly string[];
    readonly refused:
      | "unknown-intent"
      | "not-queued"
      /** Its intents must not share a transaction. */
      | "not-together"
      /** Its nonce is not one that its intents may have. */
      | "wrong-nonce"
      | "paused"
      | "locked"
      /** It signs for other networks only. */
      | "no-signer"
      | "wrong-network"
      | "wrong-destination"
      | "bad-envelope"
      | "over-limit";
    readonly message: string;
  };

/**
 * The signer cannot be reached now. No signature has left it, so the same may be asked for
 * again as soon as it is back.
 */
export class SignerUnavailable extends Error {
  override readonly name = "SignerUnavailable";
}

/** A signature that a signer remembers. */
export interface RememberedSignature {
  readonly outgoingIds: readonly string[];
  readonly signed: SignedTransaction;
}

/** Signs committed intents. */
export interface Signer {
  /**
   * Signs a batch; answers in the order of the requests. An empty one asks whether signing is
   * possible now at all, before anything is prepared for it.
   *
   * @throws {SignerUnavailable} when it cannot be reached
   * @throws when it failed; then as well no signature has left it
   */
  sign(requests: readonly SignRequest[]): Promise<readonly SignAnswer[]>;
  /**
   * Returns what it remembers to have signed of the given rows, at most {@linkcode LARGEST_BATCH}, each
   * transaction once; nothing is signed by it. The database may have lost that they were. Absent where nothing is
   * remembered. What a nonce ends is not among it: its rows say which nonce it has.
   *
   * @throws {SignerUnavailable} when it cannot be reached
   */
  live?(outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]>;
}

/** A key ready to sign, with its address. */
export interface SigningKey {
  readonly address: string;
  readonly privateKey: Uint8Array;
}

/** The way in which a builder's transactions end, by which the signer knows for how long it must remember one. */
export type Ending =
  | {
    readonly by: "time";
    /** True if block time follows the wall clock; not where blocks are made on demand. */
    readonly followsClock: boolean;
    /** Time of the block an envelope stands on, Unix milliseconds; the envelope must be sound. */
    blockTime(envelope: Envelope): number;
  }
  | {
    readonly by: "height";
    /** Time after which no block takes one any more, milliseconds after it was signed. */
    readonly settlesMs: number;
  }
  | {
    readonly by: "nonce";
    /** Builds and signs a transfer of nothing to its own sender. The envelope's fault must have been asked for before. */
    cancel(envelope: Envelope, key: SigningKey): SignedTransaction;
  };

/**
 * The signer's needs of a chain: to check an envelope and an intent, and to turn both into signed
 * bytes. It is all computation; no builder speaks to a node.
 */
export interface TransferBuilder {
  readonly network: Network;
  readonly ends: Ending;
  /**
   * Finds a reason for which an envelope must not be signed.
   *
   * @param now wall clock, Unix milliseconds
   * @returns `null` when it is sound
   */
  envelopeFault(envelope: Envelope, now: number): string | null;
  /**
   * Finds a reason for which an intent cannot be paid on this network (no such token, no such address, digits lost).
   *
   * @returns `null` when it can
   */
  intentFault(intent: Intent): string | null;
  /**
   * Builds and signs one transaction. All faults must have been asked for before.
   *
   * @param intents at least one; see {@linkcode SignRequest.outgoingIds}
   * @param keyOf the keys of the wallets that they leave, and of their payer
   * @param salt transactions that are alike in everything but the ids of their intents must not become one,
   *   so a builder puts this into a field that moves no money; where a nonce tells them apart it is not needed
   */
  sign(
    intents: readonly Intent[],
    envelope: Envelope,
    keyOf: (wallet: "hot" | number) => SigningKey,
    salt: string,
  ): SignedTransaction;
}
