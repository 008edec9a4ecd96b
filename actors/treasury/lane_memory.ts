import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { OpenNonce } from "./lane_turn.ts";

/** Facts of open nonces that a process knows besides their rows; the next one finds them out again. */
export class LaneMemory {
  readonly #monotonic: () => number;
  readonly #resendMs: number;
  /** Last time that each transaction was sent. */
  #sentAt = new Map<string, number>();
  /** Times at which each open nonce was promised and each transaction signed, by the own clock. */
  #since = new Map<string, number>();
  /** Nonces whose transfers the signer refused for reasons of their own, that would fail, or that cannot be priced. */
  #refused = new Map<string, string>();

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number, resendMs: number) {
    this.#monotonic = monotonic;
    this.#resendMs = resendMs;
  }

  sent(txid: string): void {
    const now = this.#monotonic();
    this.#sentAt.set(txid, now);
    // what is sent before it was met here was signed just now
    if (!this.#since.has(txid)) this.#since.set(txid, now);
  }

  /** True for a transaction that was not sent for a while. */
  isDue(txid: string): boolean {
    return (this.#sentAt.get(txid) ?? -Infinity) + this.#resendMs <= this.#monotonic();
  }

  refuse(payer: string, nonce: number, reason: string): void {
    this.#refused.set(`${payer}/${nonce}`, reason);
  }

  hasRefused(payer: string, nonce: number, reason: string): boolean {
    return this.#refused.get(`${payer}/${nonce}`) === reason;
  }

  /** Forgets a refusal. */
  signed(payer: string, nonce: number): void {
    this.#refused.delete(`${payer}/${nonce}`);
  }

  /** A nonce as its lane's turn sees it. */
  viewOf(nonce: PromisedNonce): OpenNonce {
    return { ...nonce, isRefused: this.#refused.has(`${nonce.payer}/${nonce.nonce}`) };
  }

  /**
   * Forgets what it knows of nonces that are over.
   *
   * @param promised all that are open, with their ages by the database's clock
   * @returns the same with ages that go on by the own clock from when each was met here first: a clock of the database
   *   that is set makes nothing older or younger
   */
  meet(promised: readonly PromisedNonce[]): readonly PromisedNonce[] {
    const now = this.#monotonic();
    const since = new Map<string, number>();
    const ageOf = (key: string, ageMs: number) => {
      const at = this.#since.get(key) ?? now - Math.max(0, ageMs);
      since.set(key, at);
      return now - at;
    };
    const aged = promised.map((one) => ({
      ...one,
      ageMs: ageOf(`${one.payer}/${one.nonce}`, one.ageMs),
      attempts: one.attempts.map((attempt) => ({
        ...attempt,
        ageMs: ageOf(attempt.txid, attempt.ageMs),
      })),
    }));
    const keep = <Value>(map: ReadonlyMap<string, Value>) =>
      new Map([...map].filter(([key]) => since.has(key)));
    this.#since = since;
    this.#sentAt = keep(this.#sentAt);
    this.#refused = keep(this.#refused);
    return aged;
  }
}
