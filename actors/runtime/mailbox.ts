/**
 * A bounded first-in-first-out queue. What does not fit is refused, never dropped in silence.
 *
 * @module
 */
export class Mailbox<M> {
  #items: M[] = [];
  #head = 0;

  /** @param capacity the most messages that may wait; at least 1 */
  constructor(readonly capacity: number) {
    if (capacity < 1) {
      throw new RangeError(`Cannot bound a mailbox as it holds nothing: ${capacity}`);
    }
  }

  /** Messages waiting. */
  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Puts a message at the end; `false` when the mailbox is full. */
  offer(message: M): boolean {
    if (this.size >= this.capacity) return false;
    this.#items.push(message);
    return true;
  }

  /**
   * Puts messages back that were taken, also into a full mailbox: they had their place.
   *
   * @param order which of two messages came first
   */
  putBack(messages: readonly M[], order: (a: M, b: M) => number): void {
    this.#items = [...messages, ...this.#items.slice(this.#head)].sort(order);
    this.#head = 0;
  }

  /** Takes the oldest message. */
  take(): M | undefined {
    if (this.#head === this.#items.length) return undefined;
    const message = this.#items[this.#head];
    this.#head++;
    // give the memory back once most of the array is spent
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return message;
  }
}
