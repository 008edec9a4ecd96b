import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { OpenNonce } from "./lane_turn.ts";

/** Facts of open nonces that a process knows besides their rows; the next one finds them out again. */
export class LaneMemory {
  readonly #monotonic: () => number;
  readonly #resendMs: number;
  /** Last time that each transaction was sent. */
  #sentAt = new Map<string, number>();
  /** Nonces whose transfers the signer refused for reasons of their own, that would fail, or that cannot be priced. */
  #refused = new Map<string, string>();

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number, resendMs: number) {
    this.#monotonic = monotonic;
    this.#resendMs = resendMs;
  }

  sent(txid: string): void {
    this.#sentAt.set(txid, this.#monotonic());
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

  /** Forgets what was sent or refused of nonces that are over. */
  keepOnly(promised: readonly PromisedNonce[]): void {
    const txids = new Set(promised.flatMap(({ attempts }) => attempts.map(({ txid }) => txid)));
    this.#sentAt = new Map([...this.#sentAt].filter(([txid]) => txids.has(txid)));
    const keys = new Set(promised.map(({ payer, nonce }) => `${payer}/${nonce}`));
    this.#refused = new Map([...this.#refused].filter(([key]) => keys.has(key)));
  }
}
