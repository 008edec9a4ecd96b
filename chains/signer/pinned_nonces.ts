/**
 * Remembers which nonce the signer gave to which intents, on chains whose senders number their transactions. No
 * signature expires there: one that was given lives until another transaction with its nonce is in a block. So an
 * intent keeps the nonce that it got first, and all of its transactions share it: one of them lands at most.
 *
 * @module
 */

import { type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Intent, NoncePlace, RememberedSignature, SignedBy, UsedNonce } from "../signer.ts";
import {
  areSame,
  type CommittedIntent,
  type SignatureEnd,
  type StoredSignature,
} from "./stored_signature.ts";

/** Time for which a nonce is remembered after its intents have ended: a database that is restored may not know it. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Nonces that are remembered at a time; those whose intents have ended make room, oldest first. */
const MOST = 100_000;
/** Characters of all that is remembered, some 64 MB: so many payouts, or a tenth of it in sweeps that share transactions. */
const MOST_CHARACTERS = 64 * 2 ** 20;
/** Characters that are there for a new nonce, so that it can be replaced, and filled: some six of a shared sweep. */
const ROOM_OF_NONCE = 65_536;
/**
 * Pause between two questions for intents that have ended while there is room, milliseconds, and the intents of new nonces that
 * end it early.
 */
const ASK_MS = 3_600_000;
const ASK_STEP = 500;
/** The most intents of one question. */
const ASKED = 1_000;

/** A signature that a nonce ends. */
export type NonceSignature = StoredSignature<Extract<SignatureEnd, { readonly by: "nonce" }>>;

/** A nonce, and what was signed with it. */
interface Pin {
  readonly key: string;
  readonly place: NoncePlace;
  readonly intents: readonly CommittedIntent[];
  /** Its signatures by their transactions' ids, oldest first. */
  readonly signatures: Map<string, NonceSignature>;
  /** See {@linkcode charactersOf}. */
  characters: number;
  /** The most that the dearest of its cancels may cost, as far as it was counted by this run. */
  cancelCost: Amount;
  /** Time at which its intents were found to have ended, by the signer's clock; null: they have not. */
  endedAt: number | null;
}

/** Uses of nonces that the database tells of, and the proof of a transaction that was not signed here. */
export interface UseOfNonces {
  /** By {@linkcode nonceKey}. */
  readonly used: ReadonlyMap<string, UsedNonce>;
  /** Proves who signed bytes; null: they are no transaction of the network. */
  readonly signedBy: (bytes: string) => SignedBy | null;
  /** Address of the intents' payer. */
  readonly payerAddress: string;
}

/** Bounds of what is remembered. */
interface PinBounds {
  /** Nonces at a time. */
  readonly most: number;
  /** Characters of all their signatures. */
  readonly characters: number;
}

/** Size of a signature as it is kept. */
function charactersOf({ intents, signed: { txid, bytes } }: NonceSignature): number {
  return intents.reduce(
    (sum, { outgoingId, details }) => sum + outgoingId.length + details.length,
    txid.length + bytes.length,
  );
}

/** Names the nonce of a sender. */
export function nonceKey({ network, payer, nonce }: NoncePlace): string {
  return `${network}/${payer}/${nonce}`;
}

function keyOf({ network, end: { payer, nonce } }: NonceSignature): string {
  return nonceKey({ network, payer, nonce });
}

/** Nonces by their place and by the intents that they were given to. */
export class PinnedNonces {
  /** In the order in which they were first signed with. */
  readonly #pins = new Map<string, Pin>();
  /** The nonce with which each intent was last signed to be paid. */
  readonly #ofIntent = new Map<string, Pin>();
  readonly #bounds: PinBounds;
  #characters = 0;
  #asksAt = -Infinity;
  #newSince = 0;
  /** Those that were asked for and live, the one asked for longest ago first. */
  #asked = new Set<string>();

  /** @param kept of an earlier run, oldest first */
  constructor(
    kept: readonly NonceSignature[] = [],
    { most = MOST, characters = MOST_CHARACTERS }: Partial<PinBounds> = {},
  ) {
    this.#bounds = { most, characters };
    for (const signature of kept) this.remember(signature);
  }

  /**
   * Makes room for a signature that is not remembered where there is none left: the oldest nonces are forgotten whose
   * intents have ended.
   *
   * @returns false where there are none of those: a nonce whose intents may be paid with it is never forgotten
   */
  makeRoom(signature: NonceSignature): boolean {
    const own = this.#pins.get(keyOf(signature));
    if (own?.signatures.has(signature.signed.txid) === true) return true;
    const { most, characters } = this.#bounds;
    const added = charactersOf(signature);
    const isFull = () =>
      own === undefined && this.#pins.size >= most || this.#characters + added > characters;
    for (const pin of this.#pins.values()) {
      if (!isFull()) return true;
      if (pin.endedAt !== null && pin !== own) this.#forget(pin);
    }
    return !isFull();
  }

  /** True where there is room for so many new nonces, see {@linkcode makeRoom}. */
  hasRoom(count: number): boolean {
    const { most, characters } = this.#bounds;
    let places = most - this.#pins.size;
    let left = characters - this.#characters;
    const isEnough = () => places >= count && left >= count * ROOM_OF_NONCE;
    for (const pin of this.#pins.values()) {
      if (isEnough()) return true;
      if (pin.endedAt === null) continue;
      places++;
      left += pin.characters;
    }
    return isEnough();
  }

  /** True while a nonce is remembered. */
  has(key: string): boolean {
    return this.#pins.has(key);
  }

  /** True where an intent was signed with this nonce, to be paid, and with none since. */
  isPinned(outgoingId: string, place: NoncePlace): boolean {
    return this.#ofIntent.get(outgoingId)?.key === nonceKey(place);
  }

  /** True where an intent was signed to be paid with any nonce. */
  hasNonce(outgoingId: string): boolean {
    return this.#ofIntent.has(outgoingId);
  }

  /** Nonces that intents were given and that are not the one that they are to have now; null: they are to have a new one. */
  others(outgoingIds: readonly string[], place: NoncePlace | null): readonly NoncePlace[] {
    const key = place === null ? null : nonceKey(place);
    const others = outgoingIds.flatMap((id) => this.#ofIntent.get(id) ?? [])
      .filter((pin) => pin.key !== key);
    return [...new Set(others)].map((pin) => pin.place);
  }

  /** The signatures of the nonces that intents were given, each once. */
  recall(outgoingIds: readonly string[]): readonly RememberedSignature[] {
    const pins = new Set(outgoingIds.flatMap((id) => this.#ofIntent.get(id) ?? []));
    return [...pins].flatMap(({ signatures }) =>
      [...signatures.values()].map(({ intents, end, signed }) => ({
        outgoingIds: intents.map(({ outgoingId }) => outgoingId),
        signed,
        numbered: { payer: end.payer, nonce: end.nonce, purpose: end.purpose },
      }))
    );
  }

  /**
   * Judges whether intents may be signed to be paid with a nonce.
   *
   * @param intents in their order in the transaction
   * @param use of the nonces that they were given before
   * @returns `first` where they have no transaction with it yet, `replacement` where they have, or why they
   *   may not
   */
  judge(
    intents: readonly Intent[],
    commitments: readonly CommittedIntent[],
    place: NoncePlace,
    use: UseOfNonces,
  ): "first" | "replacement" | { readonly fault: string } {
    const key = nonceKey(place);
    const pin = this.#pins.get(key);
    if (pin !== undefined && !areSame(pin.intents, commitments)) {
      return { fault: `nonce ${place.nonce} was given to other intents, or with other details` };
    }
    let isFirst = false;
    for (const intent of intents) {
      const own = this.#ofIntent.get(intent.outgoingId);
      if (own?.key === key) continue;
      const fault = this.pinFault(intent, use);
      if (fault !== null) return { fault };
      isFirst = true;
    }
    return isFirst ? "first" : "replacement";
  }

  /**
   * Finds the reason for which an intent may have no other nonce than the one that it was given.
   *
   * @returns `null` where it was given none, or where something else than a payment of it has used that
   */
  pinFault({ outgoingId, usedNonces }: Intent, use: UseOfNonces): string | null {
    const own = this.#ofIntent.get(outgoingId);
    if (own === undefined) return null;
    // only a transaction that was signed here can have taken it, or one that shows its signature: of another hand, or the
    // cancel of another node's signer. What the database says alone is not enough
    const { nonce } = own.place;
    const hasFailed = usedNonces.some((one) => one.nonce === nonce && own.signatures.has(one.txid));
    const fault = hasFailed ? null : useFault(own, use);
    return fault === null ? null : `${outgoingId} has nonce ${nonce}, which ${fault}`;
  }

  /** Cost that a cancel of a nonce adds to what was counted for its earlier ones, of which one lands at most. */
  addedCost(place: NoncePlace, most: Amount): Amount {
    const counted = this.#pins.get(nonceKey(place))?.cancelCost ?? ZERO;
    return most > counted ? subtract(most, counted) : ZERO;
  }

  /** Keeps what was counted for a cancel. */
  countCancel(place: NoncePlace, most: Amount): void {
    const pin = this.#pins.get(nonceKey(place));
    if (pin !== undefined && most > pin.cancelCost) pin.cancelCost = most;
  }

  remember(signature: NonceSignature): void {
    const { network, intents, end, signed } = signature;
    const key = keyOf(signature);
    let pin = this.#pins.get(key);
    if (pin === undefined) {
      const place = { network, payer: end.payer, nonce: end.nonce };
      const empty = { signatures: new Map(), characters: 0, cancelCost: ZERO, endedAt: null };
      pin = { key, place, intents, ...empty };
      this.#pins.set(key, pin);
      this.#newSince += intents.length;
    }
    if (!pin.signatures.has(signed.txid)) {
      const added = charactersOf(signature);
      pin.characters += added;
      this.#characters += added;
    }
    pin.signatures.set(signed.txid, signature);
    pin.endedAt = null;
    if (end.purpose === "cancel") return;
    for (const { outgoingId } of intents) this.#ofIntent.set(outgoingId, pin);
  }

  /**
   * The intents to ask for whether they have ended, some at a time: now and then, and at every call while there is no room. After
   * a restart none of those that have ended is known to have, so that what an earlier run had room for would wait for
   * hours.
   *
   * @param now by the signer's clock, Unix milliseconds
   * @param wanted nonces that there is to be room for
   */
  toAsk(now: number, wanted: number): readonly string[] {
    if (now < this.#asksAt && this.#newSince < ASK_STEP && this.hasRoom(wanted)) return [];
    this.#asksAt = now + ASK_MS;
    this.#newSince = 0;
    const never = [...this.#pins.values()].filter(({ endedAt, key }) =>
      endedAt === null && !this.#asked.has(key)
    );
    const again = [...this.#asked].flatMap((key) => this.#pins.get(key) ?? []);
    const next: string[] = [];
    for (const { key, intents } of [...never, ...again]) {
      if (next.length + intents.length > ASKED) break;
      this.#asked.delete(key);
      this.#asked.add(key);
      for (const { outgoingId } of intents) next.push(outgoingId);
    }
    return next;
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
      } else if (pin.intents.every(({ outgoingId }) => over.has(outgoingId))) {
        pin.endedAt = now;
        this.#asked.delete(pin.key);
      }
    }
  }

  #forget(pin: Pin): void {
    this.#pins.delete(pin.key);
    this.#asked.delete(pin.key);
    this.#characters -= pin.characters;
    for (const { outgoingId } of pin.intents) {
      if (this.#ofIntent.get(outgoingId) === pin) this.#ofIntent.delete(outgoingId);
    }
  }
}

/** Reason for which a nonce does not count as used by something else than a payment of its intents; null: it does. */
function useFault(
  { key, place, signatures }: Pin,
  { used, signedBy, payerAddress }: UseOfNonces,
): string | null {
  const use = used.get(key);
  if (use === undefined) return "is not known to be used";
  const own = signatures.get(use.txid);
  // the database may have lost what became of it
  if (own?.end.purpose === "pay") return `may have paid it, by ${use.txid}`;
  if (own !== undefined) return null;
  const proof = use.bytes === null ? null : signedBy(use.bytes);
  const isProven = proof !== null && proof.txid === use.txid && proof.nonce === place.nonce &&
    proof.sender === payerAddress;
  // what the signer of another node has signed with it may have paid the same intent, unless it is a cancel
  if (isProven && !use.isForeign && !proof.movesNothing) return `may have paid it, by ${use.txid}`;
  return isProven ? null : `is not proven to be used by ${use.txid}`;
}
