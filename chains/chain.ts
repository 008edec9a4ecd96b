/**
 * The port through which actors see a blockchain. An adapter translates one chain's dialect; what
 * it cannot do is a typed capability, so that no actor asks which chain it is talking to.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { Currency, Network } from "../ledger/money/pair.ts";
import type { Asset, FeeEstimate, GasPort, Movement } from "./fees.ts";
import type { LanePort } from "./lane.ts";
import type { BlockRef, Checkpoint, Finality, FurthestBlock, Place } from "./place.ts";

export type { Asset } from "./fees.ts";
export type { BlockRef, Checkpoint, Finality, FurthestBlock, Place } from "./place.ts";

/** The way in which a signed transaction ends without ever being in a block. */
export type Life =
  /** It carries the last tick at which a block may hold it. */
  | {
    readonly kind: "expires";
    /** Longest validity, in ticks past the block that it refers to. */
    readonly ticks: number;
    /** About how long that is, milliseconds. */
    readonly ms: number;
  }
  /** Never by itself: only when a solid block holds another one of its sender with its nonce. */
  | { readonly kind: "nonce"; readonly lane: LanePort };

/** Abilities of an adapter's chain. */
export interface Capabilities {
  /** Currencies with a configured token contract. */
  readonly currencies: readonly Currency[];
  /** The addresses of those contracts; absent where a chain has no such thing. */
  readonly contracts?: ReadonlyMap<Currency, string>;
  readonly life: Life;
  /** Sweeps that one transaction can carry; more than one only where the hot wallet pays for them. */
  readonly sweepsAtOnce: number;
  /** Time between two blocks, milliseconds: how many make a minute differs by the chain. */
  readonly blockMs: number;
  /**
   * Newest blocks that are kept until they are solid, so that they are not read a second time. Only where
   * a block of the head view is read as whole as a solid one, with receipts that are bound to its hash (see
   * {@linkcode Block.isUnbound}); absent: solid blocks are read anew.
   */
  readonly keptHeadBlocks?: number;
  /** By which a block that was read may be ahead of the clock, milliseconds; absent: nothing bounds it. */
  readonly mostAheadMs?: number;
}

/**
 * One token transfer, read from a successful transaction's logs. Its addresses are in the form in
 * which events carry them, one text per place on the chain: what `hub.address.event_address` holds
 * (TRON: 40 lower-case hex digits), so that the text of an unlinked address is never computed.
 * {@linkcode Chain.addressOf} gives the text.
 */
export interface Transfer {
  readonly txid: string;
  /** Index of the log within its transaction; with `txid` it names the transfer for ever. */
  readonly logIndex: number;
  /**
   * Position of the log among all logs of its block, on chains that prove it: with the block's height it names the
   * transfer, whatever id a node gives its transaction.
   */
  readonly blockLog?: number;
  readonly currency: Currency;
  readonly eventFrom: string;
  readonly eventTo: string;
  readonly amount: Amount;
  /** The last tick at which a block may hold its transaction; `Number.MAX_SAFE_INTEGER` where none ends it. */
  readonly diesAfter: number;
  /** About when that is, for people and timers; Unix milliseconds. */
  readonly expiresAt: number;
}

/** One transaction of a block, succeeded or failed. */
export interface IncludedTransaction {
  readonly txid: string;
  readonly success: boolean;
  /** The chain's word for a failure (`REVERT`, `OUT_OF_ENERGY`, ...), null on success. */
  readonly failure: string | null;
  /** Fee that the sender paid the chain, in the chain's own coin. */
  readonly fee: Amount;
  /** The parts of the fee that its block tells, where nothing proves a node's word for the fee: see {@linkcode Chain.feeOf}. */
  readonly charged?: {
    /** Units of work that it was charged for. */
    readonly units: number;
    /** Price of one unit that everything in its block paid, in the coin's smallest unit. */
    readonly base: bigint;
  };
  /** Set where the hot wallet sent it, on chains that tell. */
  readonly byHotWallet?: true;
}

/** A block with everything that concerns money in it. */
export interface Block extends BlockRef {
  readonly transactions: readonly IncludedTransaction[];
  readonly transfers: readonly Transfer[];
  /**
   * Set where its hash does not stand for its receipts, as its header has fields that are not known here: another node
   * that names the hash may have others. It is believed as what its own node says, and never as what another one has.
   */
  readonly isUnbound?: true;
}

/** Answer to a request for one block. */
export type BlockAnswer =
  | { readonly kind: "block"; readonly block: Block }
  /** The node has the block but not (all of) its receipts: ask again later. */
  | { readonly kind: "incomplete"; readonly height: number; readonly reason: string }
  /** The node does not have that block in the asked view. */
  | { readonly kind: "missing"; readonly height: number };

/** One transaction that is in a block, with everything that concerns money in it. */
export interface FoundTransaction extends IncludedTransaction {
  /** Height of its block. */
  readonly height: number;
  /** Time of its block, Unix milliseconds. */
  readonly time: number;
  readonly transfers: readonly Transfer[];
}

/** Answer to a request for one transaction. Only `found` says anything certain. */
export type TransactionLookup =
  | { readonly kind: "found"; readonly transaction: FoundTransaction }
  /** A node knows it without what it did: it waits for a block, or its receipt is late. */
  | { readonly kind: "incomplete"; readonly txid: string; readonly reason: string }
  /** No node has it in the asked view; that proves nothing, see {@linkcode BroadcastOutcome}. */
  | { readonly kind: "missing"; readonly txid: string };

/** Switches that a token's issuer has set, as far as the token knows such switches. */
export interface TokenSwitches {
  /** It cannot be transferred at all. */
  readonly isPaused: boolean;
  /** It keeps a part of each transfer. */
  readonly keepsPart: boolean;
  /** The contract that has taken its place, so that its own events may end; null: none. */
  readonly successor: string | null;
  /** The address that was asked about can send nothing of it. */
  readonly isBlocked: boolean;
}

/**
 * The part of a transaction that comes from the chain, beside its intents (TRON: reference block, times, fee
 * limit). Made by the treasury from a solid block; the signer adds destinations and amounts itself.
 */
export interface Envelope {
  readonly network: Network;
  /** Adapter-specific fields, JSON-safe. */
  readonly fields: Readonly<Record<string, string | number>>;
  /** The last tick at which a block may hold it; null: its nonce ends it. */
  readonly diesAfter: number | null;
  /** The number that its sender gives it; null on chains that count none. */
  readonly nonce: number | null;
  /** About when no block may hold it any more, for people; Unix milliseconds, null where its nonce ends it. */
  readonly expiresAt: number | null;
}

/** A signed transaction, ready to be stored and then broadcast unchanged, any number of times. */
export interface SignedTransaction {
  readonly txid: string;
  /** The exact text the adapter broadcasts. */
  readonly bytes: string;
  /** For people and timers; what proves it dead is in its {@linkcode SignedTerms}. Null where its nonce ends it. */
  readonly expiresAt: number | null;
}

/** Terms in the bytes of a signed transaction. */
export interface SignedTerms {
  /**
   * Height of the block that they refer to: they can only be in a later one, whenever they are sent. Null where
   * they refer to none.
   */
  readonly beginning: number | null;
  /** The last tick at which a block may hold them; null: their nonce ends them. */
  readonly diesAfter: number | null;
  /** Null on chains that count none. */
  readonly nonce: number | null;
  /** The most that they allow to be burned, in the chain's own coin. */
  readonly feeLimit: Amount;
}

/**
 * A node's answer to a broadcast. None of these prove that a transaction is dead: only our own
 * scan of solid blocks does. `accepted` and `known` say the node has it, `unclear` says nothing,
 * `rejected` says this node did not take it (another one still may).
 */
export type BroadcastOutcome =
  | { readonly category: "accepted"; readonly retryable: true }
  | {
    readonly category: "known" | "unclear";
    readonly retryable: true;
    readonly code: string;
    /** The node's own words, bounded, where it had any. */
    readonly message?: string;
  }
  | {
    readonly category: "rejected";
    readonly retryable: boolean;
    readonly code: string;
    readonly message: string;
  };

/** Reading from a chain failed; nothing is known. */
export class ChainUnavailable extends Error {
  /**
   * @param category why, for metrics and back-off; `reverted`: the node simulated the transfer and
   *   it would fail as things stand (for example without funds), so it has no fee yet; `above-cap`: its
   *   fee is above what is configured as the most, and is asked for again
   * @param message `Cannot <do> as <reason>: <value>`, without credentials
   */
  constructor(
    readonly category:
      | "network"
      | "timeout"
      | "rate-limit"
      | "server-error"
      | "malformed"
      | "above-cap"
      | "reverted",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "ChainUnavailable";
  }
}

/** No node that answers is known to be of the chain that was read; see {@linkcode Checkpoint}. */
export class NotOurChain extends ChainUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super("malformed", message, options);
    this.name = "NotOurChain";
  }
}

/**
 * A token's contract counts with other decimals than the service: every amount would be wrong, so nothing of its network is
 * credited or signed until the configuration is mended.
 */
export class WrongDecimals extends ChainUnavailable {
  constructor(message: string) {
    super("malformed", message);
    this.name = "WrongDecimals";
  }
}

/** A blockchain, as the actors see it. Reads throw {@linkcode ChainUnavailable}. */
export interface Chain {
  readonly network: Network;
  readonly capabilities: Capabilities;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /**
   * The canonical spelling of an address that merchants may name as a destination; `null` for a text that
   * is none. What comes from outside passes here once: whatever is kept and compared is this spelling.
   */
  address(text: string): string | null;
  /** The canonical spelling of an address in the form in which events carry it. */
  addressOf(eventAddress: string): string;
  /** The form in which events carry an address, of whatever spelling: the reverse of {@linkcode addressOf}. */
  eventAddress(address: string): string;
  /** The canonical spelling of a transaction id, `null` for a text that names no transaction. */
  transactionId(text: string): string | null;
  /**
   * A link by which a wallet opens with receiver, token and amount filled in; absent where wallets have no such
   * links.
   *
   * @param amount exact in the token; null: the payer names it
   * @returns null where the network has no contract of the currency
   */
  paymentLink?(to: string, currency: Currency, amount: Amount | null): string | null;
  /** The deposit address with this index; from the public key alone. */
  deriveAddress(index: number): string;
  /** The newest block. */
  head(signal?: AbortSignal): Promise<BlockRef>;
  /**
   * The newest block of all nodes that answer at once, for what must miss nothing that any of them shows. {@linkcode head} is what
   * the first one says that is in step, which may be two minutes behind.
   */
  furthest(signal?: AbortSignal): Promise<FurthestBlock>;
  /** The newest block that can never change. */
  solid(signal?: AbortSignal): Promise<BlockRef>;
  /** One block with its receipts, complete or not at all. */
  block(height: number, finality: Finality, signal?: AbortSignal): Promise<BlockAnswer>;
  /**
   * The blocks at heights `from` to `to` (inclusive) in order, fetched ahead and in bulk where the node allows
   * it. Ends after the first answer that is not a whole block, so a consumer never sees a gap.
   *
   * @param checkpoint what the very node that is read must have; without it any node is believed
   * @param continued the block before the first: while some node continues it, others are set apart
   *   with an alarm. Where none does, what they have is returned, for the caller to judge
   * @throws {NotOurChain} when only nodes without the checkpoint answer
   */
  blocks(
    from: number,
    to: number,
    finality: Finality,
    signal?: AbortSignal,
    checkpoint?: Checkpoint,
    continued?: Place,
  ): AsyncIterable<BlockAnswer>;
  /**
   * One transaction with its receipt, by the same rules as a block's. For a claim to have
   * sent one; what is watched is found by scanning.
   *
   * @param txid in any spelling that names one; the answer has the canonical one
   * @param checkpoint what the very node that answers must have; without it any node is believed
   * @throws {NotOurChain} when only nodes without the checkpoint answer
   */
  transaction(
    txid: string,
    finality: Finality,
    signal?: AbortSignal,
    checkpoint?: Checkpoint,
  ): Promise<TransactionLookup>;
  /**
   * Estimates one transaction with the real senders and receivers.
   *
   * @param movements all that it is to move, at least one; more only where one transaction can carry them
   * @throws {RangeError} when they are more than that
   * @throws {ChainUnavailable} `above-cap` when it would cost too much; of several, fewer may not
   */
  estimateFee(movements: readonly Movement[], signal?: AbortSignal): Promise<FeeEstimate>;
  /**
   * An envelope on a given solid block, valid from its time for the chain's lifetime, or with a number of its
   * sender.
   *
   * @param nonce null on chains that count none
   */
  envelope(solid: BlockRef, fee: FeeEstimate, nonce: number | null): Envelope;
  /**
   * Reads the terms of signed bytes: the envelope of today is not that of bytes signed before.
   *
   * @param near height of a block of about the time at which they were signed
   * @throws {RangeError} when the bytes are none of this chain
   */
  termsOf(bytes: string, near: number): SignedTerms;
  /**
   * Fee that a transaction in a block has paid, as its own bytes bound it; absent: a node's word for the fee counts.
   *
   * @param bytes of that very transaction
   */
  feeOf?(transaction: IncludedTransaction, bytes: string): Amount;
  /**
   * The ids of a block's transactions, in their order, as its hash proves them; absent where they stand under the same proof as
   * what the transactions did, or where nothing of a block is proven.
   *
   * @param hash of a block whose hash stands for its receipts
   * @returns null where no node shows what proves them
   */
  provenIds?(hash: string, signal?: AbortSignal): Promise<readonly string[] | null>;
  /** Offers the bytes to every configured node; never retried here. */
  broadcast(signed: SignedTransaction, signal?: AbortSignal): Promise<BroadcastOutcome>;
  /**
   * Solid balance of an address. `native` is the chain's own coin.
   *
   * @param checkpoint what the very node that answers must have: one behind it still shows money that
   *   has left. Without it any node is believed
   * @throws {NotOurChain} when only nodes without the checkpoint answer
   */
  balanceOf(
    address: string,
    asset: Asset,
    signal?: AbortSignal,
    checkpoint?: Checkpoint,
  ): Promise<Amount>;
  /** The switches of a token's issuer, seen from an address that holds it. */
  tokenSwitches(
    currency: Currency,
    address: string,
    signal?: AbortSignal,
  ): Promise<TokenSwitches>;
  /**
   * Destinations of transactions that the hot wallet has to send once before it can send sweeps, and whose work no
   * final block shows; empty: all of it is there. Absent where sweeps need nothing of the kind.
   */
  missingSetup?(signal?: AbortSignal): Promise<readonly string[]>;
  /** Reads what a deposit address needs to pay for its own sweep; absent where the hot wallet pays for sweeps. */
  readonly gas?: GasPort;
}
