/**
 * The merchants in memory, least recently used first; who is dropped is read again when needed.
 *
 * @module
 */

import type { Draft } from "./draft.ts";
import type { MerchantState } from "../merchant/state.ts";

/** How many references of a merchant are remembered; the database knows all of them. */
const KNOWN_REFERENCES = 256;

/** One merchant in memory. */
export interface ActiveMerchant {
  readonly state: MerchantState;
  /** Living withdrawals by reference, the latest ones. */
  readonly references: Map<string, string>;
}

export class ActiveMerchants {
  readonly #merchants = new Map<string, ActiveMerchant>();

  /** @param capacity how many merchants stay in memory */
  constructor(readonly capacity: number) {}

  /** Merchants in memory. */
  get size(): number {
    return this.#merchants.size;
  }

  get(merchantId: string): ActiveMerchant | undefined {
    return this.#merchants.get(merchantId);
  }

  /** Takes a merchant in as it was read; others may have to leave. */
  open(merchantId: string, state: MerchantState): ActiveMerchant {
    const merchant = { state, references: new Map<string, string>() };
    this.#put(merchantId, merchant);
    return merchant;
  }

  /** Forgets a merchant whose state is no longer known to be current. */
  drop(merchantId: string): void {
    this.#merchants.delete(merchantId);
  }

  /** Forgets all of them: what is remembered may be of a history that the database no longer has. */
  clear(): void {
    this.#merchants.clear();
  }

  /** Remembers who holds a reference. */
  learnReference(merchantId: string, referenceId: string, withdrawalId: string): void {
    this.#merchants.get(merchantId)?.references.set(referenceId, withdrawalId);
  }

  /**
   * Replaces a merchant's state by what was committed.
   *
   * @param commitId the commit that wrote it; null: nothing was written, it is as it was
   */
  keep(merchantId: string, draft: Draft, commitId: string | null): void {
    const references = this.#merchants.get(merchantId)?.references ?? new Map<string, string>();
    for (const [reference, withdrawalId] of draft.touchedReferences) {
      references.delete(reference);
      if (withdrawalId !== null) references.set(reference, withdrawalId);
    }
    for (const reference of references.keys()) {
      if (references.size <= KNOWN_REFERENCES) break;
      references.delete(reference);
    }
    const { state } = draft;
    // a write raises the version of every slice in it, also of one that only refused
    const fence = commitId === null ? {} : { version: state.version + 1, lastCommit: commitId };
    this.#put(merchantId, { state: { ...state, ...fence }, references });
  }

  #put(merchantId: string, merchant: ActiveMerchant): void {
    this.#merchants.delete(merchantId);
    this.#merchants.set(merchantId, merchant);
    for (const oldest of this.#merchants.keys()) {
      if (this.#merchants.size <= this.capacity) break;
      this.#merchants.delete(oldest);
    }
  }
}
