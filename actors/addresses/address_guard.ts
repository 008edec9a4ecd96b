/**
 * Decides whether deposit addresses may leave the service. The database is not believed in this: each
 * address is derived from the public key and compared, so that a changed row redirects no deposit.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Network } from "../../ledger/pair.ts";

const log = getLogger(["engine", "addresses"]);

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
  /** Why no address at all may leave now; null while they may. Absent: nothing holds them back. */
  readonly held?: () => string | null;
  /** Derived addresses that are remembered; default 50,000, about 8 MB. */
  readonly remembered?: number;
}

const REMEMBERED = 50_000;
/** Derivations without a pause: about four milliseconds. */
const SLICE = 8;
/** Pause between slices, milliseconds: lists that are derived take half of the thread at most. */
const PAUSE_MS = 5;
/** Lists that wait for their turn; one derives at a time. */
const MOST_WAITING = 50;

/** Compares addresses with the wallet's own, and remembers what it derived. */
export class AddressGuard {
  readonly #options: AddressGuardOptions;
  readonly #derived = new Map<string, string>();
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #mismatches = 0;

  constructor(options: AddressGuardOptions) {
    this.#options = options;
  }

  /** Why no address at all may leave now; null while they may. */
  get held(): string | null {
    return this.#options.held?.() ?? null;
  }

  /** Addresses that were not the wallet's own, since the start. */
  get mismatches(): number {
    return this.#mismatches;
  }

  /**
   * Returns true where the addresses may be handed out: no reason forbids it now, and each of them is
   * one that this wallet derives.
   *
   * @returns false as well where too many lists wait to be derived; asked again, it may be true
   */
  async clears(addresses: readonly IssuedAddress[]): Promise<boolean> {
    if (this.held !== null) return false;
    const unknown = addresses.filter((row) => !this.#derived.has(keyOf(row)));
    if (unknown.length > SLICE) return await this.#inTurn(addresses);
    return addresses.every((row) => this.#isOwn(row));
  }

  async #inTurn(addresses: readonly IssuedAddress[]): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false;
    this.#waiting++;
    const before = this.#turn;
    const over = Promise.withResolvers<void>();
    this.#turn = over.promise;
    try {
      await before;
      for (let at = 0; at < addresses.length; at += SLICE) {
        const slice = addresses.slice(at, at + SLICE);
        const isKnown = slice.every((row) => this.#derived.has(keyOf(row)));
        if (!slice.every((row) => this.#isOwn(row))) return false;
        if (!isKnown) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      // what held addresses back may have come up meanwhile
      return this.held === null;
    } finally {
      this.#waiting--;
      over.resolve();
    }
  }

  #isOwn(row: IssuedAddress): boolean {
    if (row.walletIndex !== null && this.#addressOf(row, row.walletIndex) === row.address) {
      return true;
    }
    this.#mismatches++;
    log.error(
      "an address of the database is not the wallet's own and is handed out to no-one: {network} {walletIndex} {address}",
      { ...row },
    );
    return false;
  }

  /** @returns null where the wallet cannot derive it */
  #addressOf(row: IssuedAddress, walletIndex: number): string | null {
    const key = keyOf(row);
    const known = this.#derived.get(key);
    if (known !== undefined) return known;
    let address: string;
    try {
      address = this.#options.derive(row.network, walletIndex);
    } catch (error) {
      log.error("an address cannot be derived: {network} {walletIndex}: {error}", {
        ...row,
        error,
      });
      return null;
    }
    if (this.#derived.size >= (this.#options.remembered ?? REMEMBERED)) {
      const oldest = this.#derived.keys().next().value;
      if (oldest !== undefined) this.#derived.delete(oldest);
    }
    this.#derived.set(key, address);
    return address;
  }
}

function keyOf({ network, walletIndex }: IssuedAddress): string {
  return `${network}/${walletIndex}`;
}
