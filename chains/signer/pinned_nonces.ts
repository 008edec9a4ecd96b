/**
 * Remembers which nonce the signer gave to which intents, on chains whose senders number their transactions. No
 * signature expires there: one that was given lives until another transaction with its nonce is in a block. So an
 * intent keeps the nonce that it got first, and all of its transactions share it: one of them lands at most.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Intent } from "../signer.ts";
import {
  areSame,
  type CommittedIntent,
  type SignatureEnd,
  type StoredSignature,
} from "./stored_signature.ts";

/** Time for which a nonce is remembered after its intents have ended: a database that is restored may not know it. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Nonces that are remembered at a time, some 50 MB; those whose intents have ended make room, oldest first. */
const MOST = 100_000;
/** Pause between two questions for intents that have ended, milliseconds, and the new nonces that end it early. */
const ASK_MS = 3_600_000;
const ASK_STEP = 500;
/** The most intents of one question. */
const ASKED = 1_000;

/** A signature that a nonce ends. */
export type NonceSignature = StoredSignature<Extract<SignatureEnd, { readonly by: "nonce" }>>;

/** A nonce, and what was signed with it. */
interface Pin {
  readonly key: string;
  readonly nonce: number;
  readonly intents: readonly CommittedIntent[];
  /** The paying and the cancelling ones. */
  readonly txids: Set<string>;
  /** Time at which its intents were found to have ended, by the signer's clock; null: they have not. */
  endedAt: number | null;
}

/** A place in the order of a sender's transactions. */
export interface NoncePlace {
  readonly network: Network;
  readonly payer: "hot" | number;
  readonly nonce: number;
}

/** Names the nonce of a sender. */
export function nonceKey({ network, payer, nonce }: NoncePlace): string {
  return `${network}/${payer}/${nonce}`;
}

/** Nonces by their place and by the intents that they were given to. */
export class PinnedNonces {
  /** In the order in which they were first signed with. */
  readonly #pins = new Map<string, Pin>();
  /** The nonce with which each intent was last signed to be paid. */
  readonly #ofIntent = new Map<string, Pin>();
  readonly #most: number;
  #asksAt = -Infinity;
  #newSince = 0;
  /** Those that a question has begun with come last in the next one. */
  #askedLast = new Set<string>();

  /**
   * @param kept of an earlier run, oldest first
   * @param most nonces that are remembered at a time
   */
  constructor(kept: readonly NonceSignature[] = [], most: number = MOST) {
    this.#most = most;
    for (const signature of kept) this.remember(signature);
  }

  /**
   * Makes room for one more nonce where there is none left: the oldest one is forgotten whose intents have ended.
   *
   * @returns false where there is none of those: a nonce whose intents may be paid with it is never forgotten
   */
  makeRoom(): boolean {
    if (this.#pins.size < this.#most) return true;
    for (const pin of this.#pins.values()) {
      if (pin.endedAt === null) continue;
      this.#forget(pin);
      return true;
    }
    return false;
  }

  /** True while a nonce is remembered. */
  has(key: string): boolean {
    return this.#pins.has(key);
  }

  /** True where an intent was signed with this nonce, to be paid, and with none since. */
  isPinned(outgoingId: string, place: NoncePlace): boolean {
    return this.#ofIntent.get(outgoingId)?.key === nonceKey(place);
  }

  /**
   * Judges whether intents may be signed to be paid with a nonce.
   *
   * @param intents in their order in the transaction
   * @returns `first` where they have no transaction with it yet, `replacement` where they have, or why they
   *   may not
   */
  judge(
    intents: readonly Intent[],
    commitments: readonly CommittedIntent[],
    place: NoncePlace,
  ): "first" | "replacement" | { readonly fault: string } {
    const key = nonceKey(place);
    const pin = this.#pins.get(key);
    if (pin !== undefined && !areSame(pin.intents, commitments)) {
      return { fault: `nonce ${place.nonce} was given to other intents, or with other details` };
    }
    let isFirst = false;
    for (const { outgoingId, usedNonces } of intents) {
      const own = this.#ofIntent.get(outgoingId);
      if (own === undefined) isFirst = true;
      if (own === undefined || own.key === key) continue;
      // only a transaction that was signed here can have taken it: what the database says alone is not enough. But for
      // one that an administrator has adopted: no signer knows it, and what is signed then counts against the caps again
      const isUsed = usedNonces.some(({ nonce, txid, isForeign = false }) =>
        nonce === own.nonce && (own.txids.has(txid) || isForeign)
      );
      if (!isUsed) {
        return { fault: `${outgoingId} has nonce ${own.nonce}, which is not known to be used` };
      }
      isFirst = true;
    }
    return isFirst ? "first" : "replacement";
  }

  /** Remembers a signature. */
  remember({ network, intents, end, signed }: NonceSignature): void {
    const key = nonceKey({ network, payer: end.payer, nonce: end.nonce });
    let pin = this.#pins.get(key);
    if (pin === undefined) {
      pin = { key, nonce: end.nonce, intents, txids: new Set(), endedAt: null };
      this.#pins.set(key, pin);
      this.#newSince++;
    }
    pin.txids.add(signed.txid);
    pin.endedAt = null;
    if (end.purpose === "cancel") return;
    for (const { outgoingId } of intents) this.#ofIntent.set(outgoingId, pin);
  }

  /**
   * The intents to ask for whether they have ended, now and then and some at a time.
   *
   * @param now by the signer's clock, Unix milliseconds
   */
  toAsk(now: number): readonly string[] {
    if (now < this.#asksAt && this.#newSince < ASK_STEP) return [];
    this.#asksAt = now + ASK_MS;
    this.#newSince = 0;
    const living = [...this.#pins.values()].filter(({ endedAt }) => endedAt === null);
    const isLast = ({ key }: Pin) => this.#askedLast.has(key);
    const asked: Pin[] = [];
    let count = 0;
    for (const pin of [...living.filter((one) => !isLast(one)), ...living.filter(isLast)]) {
      if (count + pin.intents.length > ASKED) break;
      asked.push(pin);
      count += pin.intents.length;
    }
    this.#askedLast = new Set(asked.map(({ key }) => key));
    return asked.flatMap(({ intents }) => intents.map(({ outgoingId }) => outgoingId));
  }

  /**
   * Learns which intents have ended, and forgets nonces whose intents all ended long ago.
   *
   * @param read intents as the database has them now
   */
  learn(read: readonly Intent[], now: number): void {
    const over = new Set(
      read.filter(({ status }) => status === "final" || status === "void")
        .map(({ outgoingId }) => outgoingId),
    );
    for (const pin of this.#pins.values()) {
      if (pin.endedAt !== null) {
        if (pin.endedAt + KEPT_MS <= now) this.#forget(pin);
      } else if (pin.intents.every(({ outgoingId }) => over.has(outgoingId))) pin.endedAt = now;
    }
  }

  #forget(pin: Pin): void {
    this.#pins.delete(pin.key);
    for (const { outgoingId } of pin.intents) {
      if (this.#ofIntent.get(outgoingId) === pin) this.#ofIntent.delete(outgoingId);
    }
  }
}
