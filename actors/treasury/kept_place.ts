import type { Sql } from "../../ledger/database/connect.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import { isOwnWaiting } from "../../ledger/lanes/own_waiting.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { QueueOf } from "../../ledger/treasury/pull_queued.ts";

/** Places that are kept: payouts come first, and have all the others. */
const MOST = 1;

/**
 * A place of the hot wallet's lane that payouts leave to the service's own transfers. Without it those would wait for as long
 * as payouts fill the lane: coin for addresses that are to be swept, and with it the tokens that payouts need.
 */
export class KeptPlace {
  #isWaiting = false;
  #isBusy = false;
  /** Nonces that own transfers have and no block shows. */
  #unseen = 0;

  /**
   * Places of some room that payouts leave now: none while no own transfer waits, or while one is under way. Nor is the only one
   * left where no transfer at all is under way: refused nonces take up the others, and the own transfer may wait for its token.
   */
  of(room: number): number {
    if (!this.#isWaiting || room === 1 && !this.#isBusy) return 0;
    return Math.max(0, MOST - this.#unseen);
  }

  /** Looks at what waits and what is under way, once in a poll. */
  async look(sql: Sql, network: Network, promised: readonly PromisedNonce[]): Promise<void> {
    this.#isWaiting = await isOwnWaiting(sql, network);
    this.#isBusy = promised.some((nonce) => isUnseen(nonce) && nonce.attempts.length > 0);
    this.#unseen = promised.filter(isOwnUnseen).length;
  }

  /** Counts a nonce that was promised since. */
  take(payer: string, of: QueueOf): void {
    if (payer !== "hot") return;
    this.#isBusy = true;
    if (of === "internal") this.#unseen++;
  }
}

function isUnseen({ payer, attempts }: PromisedNonce): boolean {
  return payer === "hot" && !attempts.some(({ isSeen }) => isSeen);
}

function isOwnUnseen(nonce: PromisedNonce): boolean {
  return isUnseen(nonce) &&
    nonce.intents.every(({ merchantId }) => merchantId === PLATFORM_ACCOUNT);
}
