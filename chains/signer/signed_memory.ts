/**
 * What the signer signed of late.
 *
 * The database lets an intent be signed once. Between signing and that commit the same intent may
 * be asked for again, by a treasury that restarted or by one gone wrong; it then gets the very
 * bytes it got before, so that no two live signatures for one payment exist.
 *
 * @module
 */

import type { SignedTransaction } from "../chain.ts";
import type { Intent } from "../signer.ts";

/** About 40 MB; at 100 signatures/s eight minutes, longer than the gap until the commit. */
const KEPT = 50_000;

interface Entry {
  readonly details: string;
  readonly signed: SignedTransaction;
}

/** The details a signature commits to. */
function detailsOf(intent: Intent): string {
  return [intent.network, intent.currency, intent.amount, intent.destination, intent.wallet]
    .join("|");
}

/** Signatures by intent. */
export class SignedMemory {
  readonly #entries = new Map<string, Entry>();
  readonly #txids = new Set<string>();

  /**
   * The earlier signature of an intent.
   *
   * @param blockTime newest block time known; what expired before it is forgotten
   * @returns `changed` when an unexpired signature says something else than the intent does now
   */
  find(intent: Intent, blockTime: number): SignedTransaction | "changed" | null {
    const entry = this.#entries.get(intent.outgoingId);
    if (entry === undefined) return null;
    if (entry.signed.expiresAt <= blockTime) {
      this.#forget(intent.outgoingId, entry);
      return null;
    }
    return entry.details === detailsOf(intent) ? entry.signed : "changed";
  }

  /** Whether another intent has this transaction id. */
  hasTxid(txid: string): boolean {
    return this.#txids.has(txid);
  }

  /** Remembers a signature. */
  keep(intent: Intent, signed: SignedTransaction): void {
    this.#entries.set(intent.outgoingId, { details: detailsOf(intent), signed });
    this.#txids.add(signed.txid);
    if (this.#entries.size <= KEPT) return;
    for (const [id, entry] of this.#entries) {
      this.#forget(id, entry);
      break;
    }
  }

  #forget(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#txids.delete(entry.signed.txid);
  }
}
