/**
 * Remembers what the signer signed of late, on chains whose transactions expire.
 *
 * The database lets an intent be signed once. Between signing and that commit the same intent may
 * be asked for again, by a treasury that restarted or by one gone wrong; it then gets the very
 * bytes it got before, so that no two live signatures for one payment exist.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { SignedTransaction } from "../chain.ts";
import {
  areSame,
  type CommittedIntent,
  type SignatureEnd,
  type StoredSignature,
} from "./stored_signature.ts";

/**
 * About 150 MB. A signature is remembered for its five minutes and the minute until a solid block
 * has passed it, so this is 270 signatures/s without end.
 */
const MOST = 100_000;
/** So many more than were left by one look for dead ones make it worth another. */
const SWEEP_STEP = 5_000;

/** A signature that expires. */
export type ExpiringSignature = StoredSignature<Extract<SignatureEnd, { readonly at: number }>>;

/** Signatures that expire, by intent. */
export class SignedMemory {
  /** A signature stands under each intent that its transaction carries. */
  readonly #entries = new Map<string, ExpiringSignature>();
  readonly #txids = new Set<string>();
  readonly #passed = new Map<Network, number>();
  #clock = -Infinity;
  readonly #most: number;
  #sweepAt: number;

  /**
   * @param kept of an earlier run, oldest first
   * @param most intents whose signatures are remembered at a time
   */
  constructor(kept: readonly ExpiringSignature[] = [], most: number = MOST) {
    this.#most = most;
    for (const entry of kept) this.remember(entry);
    this.#sweepAt = Math.min(this.#entries.size + SWEEP_STEP, most);
  }

  /** True if no more can be remembered: a live signature is never forgotten to make room. */
  get isFull(): boolean {
    return this.#entries.size >= this.#most;
  }

  /**
   * The earlier signature of intents that share a transaction. What has expired by the time that is known to
   * have passed is forgotten.
   *
   * @returns `changed` when an unexpired signature of one of them says something else than the intents do now
   */
  find(intents: readonly CommittedIntent[]): SignedTransaction | "changed" | null {
    let found: ExpiringSignature | null = null;
    for (const { outgoingId } of intents) {
      const entry = this.#entries.get(outgoingId);
      if (entry === undefined) continue;
      if (this.#isOver(entry)) this.#forget(entry);
      else found = entry;
    }
    if (found === null) return null;
    return areSame(found.intents, intents) ? found.signed : "changed";
  }

  /** The signature of an intent, live or not, as long as it is remembered. */
  recall(outgoingId: string): ExpiringSignature | null {
    return this.#entries.get(outgoingId) ?? null;
  }

  /** True if other intents have this transaction id. */
  hasTxid(txid: string): boolean {
    return this.#txids.has(txid);
  }

  remember(entry: ExpiringSignature): void {
    for (const { outgoingId } of entry.intents) {
      const earlier = this.#entries.get(outgoingId);
      if (earlier !== undefined) this.#forget(earlier);
    }
    for (const { outgoingId } of entry.intents) this.#entries.set(outgoingId, entry);
    this.#txids.add(entry.signed.txid);
  }

  /** Learns the block time that has passed on a network. */
  pass(network: Network, passed: number): void {
    if (passed > this.passed(network)) this.#passed.set(network, passed);
  }

  /** The latest block time that is known to have passed on a network. */
  passed(network: Network): number {
    return this.#passed.get(network) ?? -Infinity;
  }

  /** Learns the time by the signer's clock. */
  passClock(now: number): void {
    this.#clock = Math.max(this.#clock, now);
  }

  /** The latest time that the signer's clock has shown. */
  get clock(): number {
    return this.#clock;
  }

  /** Forgets what has expired, whenever enough has come together for it. */
  sweep(): void {
    if (this.#entries.size < this.#sweepAt) return;
    for (const entry of this.#entries.values()) {
      if (this.#isOver(entry)) this.#forget(entry);
    }
    this.#sweepAt = Math.min(this.#entries.size + SWEEP_STEP, this.#most);
  }

  #isOver({ end, network }: ExpiringSignature): boolean {
    return end.at <= (end.by === "time" ? this.passed(network) : this.#clock);
  }

  #forget(entry: ExpiringSignature): void {
    for (const { outgoingId } of entry.intents) {
      if (this.#entries.get(outgoingId) === entry) this.#entries.delete(outgoingId);
    }
    this.#txids.delete(entry.signed.txid);
  }
}
