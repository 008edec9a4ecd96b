/**
 * Decides whether deposit addresses may leave the service. The database is not believed in this: each
 * address is derived from the public key and compared, so that a changed row redirects no deposit.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { ListTurns, type Slice, type TurnFigures } from "./list_turns.ts";

/** An address as a row of the database has it. */
export interface IssuedAddress {
  readonly network: Network;
  readonly address: string;
  /** Its derivation index; null where the database knows none. */
  readonly walletIndex: number | null;
}

export interface AddressGuardOptions {
  /** Derives an address; about half a millisecond of processor time. @throws {Error} where it cannot */
  readonly derive: (network: Network, walletIndex: number) => string;
  /** Reason for which no address at all may leave now; null while they may. Absent: nothing holds them back. */
  readonly held?: () => string | null;
  /** Derived addresses that are remembered; default 50,000, about 8 MB. */
  readonly remembered?: number;
  /** Milliseconds of a clock that is never set; absent: this machine's. */
  readonly monotonic?: () => number;
}

/**
 * The guard's answer. `refused`: a reason forbids it, or one of the addresses is not the wallet's own.
 * `busy`: too many are being derived; what was derived is kept for the next request.
 */
export type Clearance = "cleared" | "refused" | "busy";

const REMEMBERED = 50_000;
/** Derivations without a pause: about four milliseconds. */
const SLICE = 8;
/** Pauses between slices are longer than a slice: lists take half of the thread at most. */
const TURNS = { pauseMs: 5, listMs: 10_000, lists: 100, ofMerchant: 6 };

/** Compares addresses with the wallet's own, and remembers what it derived. */
export class AddressGuard {
  readonly #options: AddressGuardOptions;
  readonly #derived: DerivedAddresses;
  readonly #turns: ListTurns<Clearance>;
  #mismatches = 0;

  constructor(options: AddressGuardOptions) {
    this.#options = options;
    this.#derived = new DerivedAddresses(options.remembered ?? REMEMBERED);
    this.#turns = new ListTurns(TURNS, options.monotonic ?? (() => performance.now()));
  }

  /** Reason for which no address at all may leave now; null while they may. */
  get held(): string | null {
    return this.#options.held?.() ?? null;
  }

  /** Addresses that were not the wallet's own, since the start. */
  get mismatches(): number {
    return this.#mismatches;
  }

  /** Figures of the lists that wait to be derived. */
  get lists(): TurnFigures {
    return this.#turns.figures;
  }

  /** Decides whether a merchant's addresses may be handed out. */
  async clears(merchantId: string, addresses: readonly IssuedAddress[]): Promise<Clearance> {
    if (this.held !== null) return "refused";
    let unknown = 0;
    for (const row of addresses) if (!this.#isKnown(merchantId, row)) unknown++;
    if (unknown > SLICE) return await this.#inTurns(merchantId, addresses);
    return addresses.every((row) => this.#isOwn(merchantId, row)) ? "cleared" : "refused";
  }

  #inTurns(merchantId: string, addresses: readonly IssuedAddress[]): Promise<Clearance> {
    let at = 0;
    return this.#turns.take(merchantId, (): Slice<Clearance> => {
      let derived = 0;
      for (; at < addresses.length && derived < SLICE; at++) {
        const row = addresses[at] as IssuedAddress;
        if (!this.#isKnown(merchantId, row)) derived++;
        if (!this.#isOwn(merchantId, row)) return { result: "refused", isWork: derived > 0 };
      }
      if (at < addresses.length) return { result: null, isWork: true };
      // what held addresses back may have come up meanwhile
      return { result: this.held === null ? "cleared" : "refused", isWork: derived > 0 };
    });
  }

  #isKnown(merchantId: string, row: IssuedAddress): boolean {
    return this.#derived.get(merchantId, keyOf(row)) !== undefined;
  }

  #isOwn(merchantId: string, row: IssuedAddress): boolean {
    if (
      row.walletIndex !== null && this.#addressOf(merchantId, row, row.walletIndex) === row.address
    ) {
      return true;
    }
    this.#mismatches++;
    logEvent("addresses.mismatch", { ...row });
    return false;
  }

  /** @returns null where the wallet cannot derive it */
  #addressOf(merchantId: string, row: IssuedAddress, walletIndex: number): string | null {
    const key = keyOf(row);
    const known = this.#derived.get(merchantId, key);
    if (known !== undefined) return known;
    let address: string;
    try {
      address = this.#options.derive(row.network, walletIndex);
    } catch (error) {
      logEvent("addresses.underivable", {
        ...row,
        error,
      });
      return null;
    }
    this.#derived.set(merchantId, key, address);
    return address;
  }
}

function keyOf({ network, walletIndex }: IssuedAddress): string {
  return `${network}/${walletIndex}`;
}

/**
 * A cache of derived addresses with a fixed size. When it is full, a new entry evicts one of the same
 * merchant, or of a merchant with more than an even share, so no merchant can evict all the others.
 */
class DerivedAddresses {
  readonly #room: number;
  readonly #of = new Map<string, Map<string, string>>();
  #size = 0;
  /** The merchant with most of them, when it was looked for last. */
  #largest = "";

  /** @param room addresses that are remembered */
  constructor(room: number) {
    this.#room = room;
  }

  /** An address that was derived; undefined where it is not remembered. */
  get(merchantId: string, key: string): string | undefined {
    return this.#of.get(merchantId)?.get(key);
  }

  /** Remembers an address. */
  set(merchantId: string, key: string, address: string): void {
    while (this.#size > 0 && this.#size >= this.#room) this.#forgetFor(merchantId);
    let known = this.#of.get(merchantId);
    if (known === undefined) this.#of.set(merchantId, known = new Map());
    if (!known.has(key)) this.#size++;
    known.set(key, address);
  }

  #forgetFor(merchantId: string): void {
    const share = this.#size / this.#of.size;
    const has = (id: string) => (this.#of.get(id)?.size ?? 0) >= share;
    // looked for again only once it has no more than others: going through all of them takes time
    if (!has(merchantId) && !has(this.#largest)) this.#findLargest();
    const from = has(merchantId) ? merchantId : this.#largest;
    const known = this.#of.get(from);
    const oldest = known?.keys().next().value;
    if (known === undefined || oldest === undefined) return;
    known.delete(oldest);
    this.#size--;
    if (known.size === 0) this.#of.delete(from);
  }

  #findLargest(): void {
    let most = 0;
    for (const [merchantId, { size }] of this.#of) {
      if (size <= most) continue;
      most = size;
      this.#largest = merchantId;
    }
  }
}
