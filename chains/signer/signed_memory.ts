/**
 * Remembers what the signer signed of late.
 *
 * The database lets an intent be signed once. Between signing and that commit the same intent may
 * be asked for again, by a treasury that restarted or by one gone wrong; it then gets the very
 * bytes it got before, so that no two live signatures for one payment exist.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { SignedTransaction } from "../chain.ts";
import type { Intent } from "../signer.ts";

/**
 * About 150 MB. A signature is remembered for its five minutes and the minute until a solid block
 * has passed it, so this is 270 signatures/s without end.
 */
const MOST = 100_000;
/** So many more than were left by one look for dead ones make it worth another. */
const SWEEP_STEP = 5_000;

/** A signature, with what it commits to. */
export interface StoredSignature {
  readonly outgoingId: string;
  readonly network: Network;
  readonly details: string;
  readonly signed: SignedTransaction;
}

/** The details a signature commits to. */
function detailsOf(intent: Intent): string {
  const { network, kind, currency, amount, destination, wallet } = intent;
  return [network, kind, currency, amount, destination, wallet].join("|");
}

/** Signatures by intent. */
export class SignedMemory {
  readonly #entries = new Map<string, StoredSignature>();
  readonly #txids = new Set<string>();
  readonly #passed = new Map<Network, number>();
  readonly #most: number;
  #sweepAt: number;

  /**
   * @param kept of an earlier run, oldest first
   * @param most signatures that are remembered at a time
   */
  constructor(kept: readonly StoredSignature[] = [], most: number = MOST) {
    this.#most = most;
    for (const entry of kept) this.#put(entry);
    this.#sweepAt = Math.min(this.#entries.size + SWEEP_STEP, most);
  }

  /** True if no more can be remembered: a live signature is never forgotten to make room. */
  get isFull(): boolean {
    return this.#entries.size >= this.#most;
  }

  /**
   * The earlier signature of an intent.
   *
   * @param passed time that has passed for certain; what expired by it is forgotten
   * @returns `changed` when an unexpired signature says something else than the intent does now
   */
  find(intent: Intent, passed: number): SignedTransaction | "changed" | null {
    const entry = this.#entries.get(intent.outgoingId);
    if (entry === undefined) return null;
    if (entry.signed.expiresAt <= passed) {
      this.#forget(entry);
      return null;
    }
    return entry.details === detailsOf(intent) ? entry.signed : "changed";
  }

  /** The signature of an intent, live or not, as long as it is remembered. */
  recall(outgoingId: string): SignedTransaction | null {
    return this.#entries.get(outgoingId)?.signed ?? null;
  }

  /** True if another intent has this transaction id. */
  hasTxid(txid: string): boolean {
    return this.#txids.has(txid);
  }

  /** Remembers a signature. */
  remember(intent: Intent, signed: SignedTransaction): StoredSignature {
    const { outgoingId, network } = intent;
    const entry: StoredSignature = { outgoingId, network, details: detailsOf(intent), signed };
    this.#put(entry);
    return entry;
  }

  /** Learns the time that has passed on a network. */
  pass(network: Network, passed: number): void {
    if (passed > this.passed(network)) this.#passed.set(network, passed);
  }

  /** The latest time that is known to have passed on a network. */
  passed(network: Network): number {
    return this.#passed.get(network) ?? -Infinity;
  }

  /** Forgets what has expired, whenever enough has come together for it. */
  sweep(): void {
    if (this.#entries.size < this.#sweepAt) return;
    for (const entry of this.#entries.values()) {
      if (entry.signed.expiresAt <= this.passed(entry.network)) this.#forget(entry);
    }
    this.#sweepAt = Math.min(this.#entries.size + SWEEP_STEP, this.#most);
  }

  #put(entry: StoredSignature): void {
    const earlier = this.#entries.get(entry.outgoingId);
    if (earlier !== undefined) this.#forget(earlier);
    this.#entries.set(entry.outgoingId, entry);
    this.#txids.add(entry.signed.txid);
  }

  #forget({ outgoingId, signed }: StoredSignature): void {
    this.#entries.delete(outgoingId);
    this.#txids.delete(signed.txid);
  }
}
