/**
 * The mailboxes of all merchant actors of a slot group, and whose turn it is: fair between
 * merchants, first in first out within one.
 *
 * @module
 */

import { Mailbox } from "../runtime/mailbox.ts";
import type { Envelope } from "./envelope.ts";

/** What one batch takes: messages in order, per merchant. */
export type Taken = Map<string, Envelope[]>;

export class MerchantQueue {
  readonly #mailboxes = new Map<string, Mailbox<Envelope>>();
  readonly #woken = new Set<string>();
  #size = 0;

  /**
   * @param capacity the most messages that wait in all mailboxes together
   * @param mailboxCapacity the most that wait in one
   */
  constructor(readonly capacity: number, readonly mailboxCapacity: number) {}

  /** Messages waiting. */
  get size(): number {
    return this.#size;
  }

  /** Puts a message into a merchant's mailbox; `false` when it (or the whole queue) is full. */
  offer(merchantId: string, envelope: Envelope): boolean {
    if (envelope.kind === "wake") {
      // one wake-up says as much as many, and it must never be lost to a full mailbox
      if (this.#woken.has(merchantId)) return true;
      this.#woken.add(merchantId);
    } else if (this.#size >= this.capacity) return false;
    let mailbox = this.#mailboxes.get(merchantId);
    if (mailbox === undefined) {
      mailbox = new Mailbox(this.mailboxCapacity + 1);
      this.#mailboxes.set(merchantId, mailbox);
    }
    if (envelope.kind !== "wake" && mailbox.size >= this.mailboxCapacity) return false;
    mailbox.offer(envelope);
    this.#size++;
    return true;
  }

  /**
   * Takes the next messages, merchant by merchant.
   *
   * @param limit the most messages in all
   * @param alone says which merchants must not share a batch with others
   */
  take(limit: number, alone: (merchantId: string) => boolean): Taken {
    const taken: Taken = new Map();
    let left = limit;
    for (const [merchantId, mailbox] of this.#mailboxes) {
      if (left === 0) break;
      if (alone(merchantId)) {
        if (taken.size > 0) continue;
        left = Math.min(left, mailbox.size);
      }
      const envelopes: Envelope[] = [];
      while (left > 0) {
        const envelope = mailbox.take();
        if (envelope === undefined) break;
        if (envelope.kind === "wake") this.#woken.delete(merchantId);
        envelopes.push(envelope);
        left--;
      }
      this.#size -= envelopes.length;
      taken.set(merchantId, envelopes);
      // to the end of the line; gone when empty
      this.#mailboxes.delete(merchantId);
      if (mailbox.size > 0) this.#mailboxes.set(merchantId, mailbox);
      if (alone(merchantId)) break;
    }
    return taken;
  }
}
