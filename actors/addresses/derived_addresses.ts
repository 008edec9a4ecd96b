/**
 * A cache of derived addresses with a fixed size. When it is full, a new entry evicts one of the same
 * merchant, or of a merchant with more than an even share, so no merchant can evict all the others.
 */
export class DerivedAddresses {
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
