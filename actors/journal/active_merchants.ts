import type { MerchantState } from "../merchant/state.ts";

/** The merchants in memory, least recently used first; one that is dropped is read again when needed. */
export class ActiveMerchants {
  readonly #merchants = new Map<string, MerchantState>();

  /** @param capacity how many merchants stay in memory */
  constructor(readonly capacity: number) {}

  /** Merchants in memory. */
  get size(): number {
    return this.#merchants.size;
  }

  get(merchantId: string): MerchantState | undefined {
    return this.#merchants.get(merchantId);
  }

  /** Takes a merchant's state, as it was read or committed; others may have to leave. */
  put(merchantId: string, state: MerchantState): void {
    this.#merchants.delete(merchantId);
    this.#merchants.set(merchantId, state);
    for (const oldest of this.#merchants.keys()) {
      if (this.#merchants.size <= this.capacity) break;
      this.#merchants.delete(oldest);
    }
  }

  /** Forgets a merchant whose state is no longer known to be current. */
  drop(merchantId: string): void {
    this.#merchants.delete(merchantId);
  }

  /** Forgets all of them: what is remembered may be of a history that the database no longer has. */
  clear(): void {
    this.#merchants.clear();
  }
}
