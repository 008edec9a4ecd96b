import type { Sql } from "../../ledger/database/connect.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import { isOwnWaiting } from "../../ledger/lanes/own_waiting.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { QueueOf } from "../../ledger/treasury/signing.ts";

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
   * Places that payouts leave now: none while no own transfer waits, or while one is under way. Nor where no transfer at all is:
   * the one place of a lane that refused nonces take up is the first's that can leave, and the own one may wait for its token.
   */
  get places(): number {
    return this.#isWaiting && this.#isBusy ? Math.max(0, MOST - this.#unseen) : 0;
  }

  /** Looks at what waits and what is under way, once in a poll. */
  async look(sql: Sql, network: Network, promised: readonly PromisedNonce[]): Promise<void> {
    this.#isWaiting = await isOwnWaiting(sql, network);
    this.#isBusy = promised.some((nonce) => isUnseen(nonce) && nonce.attempts.length > 0);
    this.#unseen = promised.filter(isOwnUnseen).length;
  }

  /** Counts a nonce that was promised since. */
  take(payer: string, of: QueueOf): void {
    if (payer === "hot" && of === "internal") this.#unseen++;
  }
}

function isUnseen({ payer, attempts }: PromisedNonce): boolean {
  return payer === "hot" && !attempts.some(({ isSeen }) => isSeen);
}

function isOwnUnseen(nonce: PromisedNonce): boolean {
  return isUnseen(nonce) &&
    nonce.intents.every(({ merchantId }) => merchantId === PLATFORM_ACCOUNT);
}
