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
import type { TransferKind } from "../ledger/money/transfer_kinds.ts";
import type { Asset, Envelope, SignedTransaction } from "./chain.ts";

/** The part of an outgoing row that the signer reads, over its own connection. */
export interface Intent {
  readonly outgoingId: string;
  /** Each has destinations of its own. */
  readonly kind: TransferKind;
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
  /** The nonce that is promised to it; null: none is. A claim. */
  readonly nonce: number | null;
  /**
   * Transactions of it, or of its nonce, that blocks show and that have not paid it. A claim: the signer looks for each
   * among its own signatures.
   */
  readonly usedNonces: readonly { readonly nonce: number; readonly txid: string }[];
}

/** A place in the order of a sender's transactions. */
export interface NoncePlace {
  readonly network: Network;
  readonly payer: "hot" | number;
  readonly nonce: number;
}

/** A nonce that a solid block shows in use, as the database has it. A claim. */
export interface UsedNonce extends NoncePlace {
  /** The transaction that has used it. */
  readonly txid: string;
  /** Its bytes, which prove it where this signer has not signed it; null: they are not known. */
  readonly bytes: string | null;
  /** True where no signer of the service has signed it, and an administrator has adopted that. */
  readonly isForeign: boolean;
}

/** Source of the signer's intents. */
export interface IntentSource {
  /** The intents that exist among the given ids, in any order. */
  read(outgoingIds: readonly string[]): Promise<readonly Intent[]>;
  /** Those of the given nonces that are used, in any order. */
  readUsed(places: readonly NoncePlace[]): Promise<readonly UsedNonce[]>;
}

/** End of an `over-limit` message that no waiting helps: the transfer alone is too large. */
export const OVER_TRANSACTION_CAP = "per transaction";
/** End of an `over-limit` message that holds for what else is signed in these 24 hours. */
export const OVER_DAY_CAP = "per day";

/** The most requests in one call of {@linkcode Signer.sign}. */
export const LARGEST_BATCH = 1_000;

/** Purpose of a transaction: to pay its intents, or to take the nonce that was promised to them out of use. */
export type SignPurpose = "pay" | "cancel";

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
  /** Its nonce and what it was signed for; null where it expires. */
  readonly numbered: {
    readonly payer: "hot" | number;
    readonly nonce: number;
    readonly purpose: SignPurpose;
  } | null;
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
   * transaction once; nothing is signed by it. The database may have lost that they were, and which nonces they have.
   * Absent where nothing is remembered.
   *
   * @throws {SignerUnavailable} when it cannot be reached
   */
  live?(outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]>;
}

/** Facts that the bytes of a signed transaction prove, wherever they come from. */
export interface SignedBy {
  readonly txid: string;
  /** In the one spelling of its network. */
  readonly sender: string;
  readonly nonce: number;
  /** True where it is a transfer of nothing to its own sender. */
  readonly movesNothing: boolean;
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
    /**
     * Finds a reason for which an envelope is none of a transfer of nothing, beside what is wrong with any.
     *
     * @returns `null` when there is none
     */
    cancelFault(envelope: Envelope): string | null;
    /** Builds and signs a transfer of nothing to its own sender. The envelope's faults must have been asked for before. */
    cancel(envelope: Envelope, key: SigningKey): SignedTransaction;
    /** The most coin that a transaction with a sound envelope may cost. */
    mostOf(envelope: Envelope): Amount;
    /** The most coin that transfers of nothing may cost in 24 hours, all together. */
    readonly cancelsPerDay: Amount;
    /** Proves who signed bytes; `null`: they are no transaction of this network. */
    signedBy(bytes: string): SignedBy | null;
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
   * The destination that a `setup` of a hot wallet may have, made of nothing but the wallet's address.
   *
   * @returns `null` where the chain needs none; absent: its sweeps never need any
   */
  setupOf?(hotWallet: string): string | null;
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
