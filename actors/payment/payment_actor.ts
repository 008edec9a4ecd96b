/**
 * One actor per payment in flight. It keeps no second copy of the payment's status; it holds the
 * payment's timers and asks the merchant, through the inbox, for what has become due.
 *
 * Today: the expiry of a deposit that was seen but is not final. A reorganisation alone changes
 * nothing; the deposit is given up only when our own scan of solid blocks has passed the expiry of
 * its transaction without meeting it.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Network } from "../../ledger/pair.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { readPendingDeposit } from "../../ledger/watcher/read_pending_deposits.ts";
import { recordVanished } from "../../ledger/watcher/record_findings.ts";
import { isAway } from "../runtime/is_away.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import type { Timers } from "../runtime/timers.ts";

const log = getLogger(["engine", "payment"]);

/** Name of the timer that looks at a deposit's expiry. */
const EXPIRY = "expiry";

/** What a payment actor is told. */
export type PaymentMessage =
  /** A deposit was seen; watch its expiry. */
  | { readonly type: "watch-expiry"; readonly expiresAt: number }
  /** A timer of the payment is due. */
  | { readonly type: "timer"; readonly name: string };

/** What payment actors work with. */
export interface PaymentDeps {
  readonly sql: Sql;
  readonly timers: Timers;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** How long to wait before the chain is looked at again. */
  readonly recheckMs: number;
  /** Says that a merchant's inbox has a row. */
  readonly wakeMerchant: (merchantId: string) => void;
}

/** The kind of actor that looks after one payment each. */
export function paymentActors(deps: PaymentDeps): ActorKind<PaymentMessage> {
  return {
    name: "payment",
    mailboxCapacity: 16,
    idleMs: 0,
    isTransient: isAway,
    activate: (id) => Promise.resolve(new PaymentActor(id, deps)),
  };
}

class PaymentActor implements Actor<PaymentMessage> {
  readonly #id: string;
  readonly #deps: PaymentDeps;

  constructor(id: string, deps: PaymentDeps) {
    this.#id = id;
    this.#deps = deps;
  }

  async receive(message: PaymentMessage): Promise<void> {
    const { timers } = this.#deps;
    const address = { kind: "payment", id: this.#id };
    switch (message.type) {
      case "watch-expiry":
        return await timers.set(address, EXPIRY, message.expiresAt);
      case "timer":
        if (message.name === EXPIRY && !await this.#settled()) {
          return await timers.set(address, EXPIRY, this.#deps.now() + this.#deps.recheckMs);
        }
        return await timers.clear(address, message.name);
      default: {
        const never: never = message;
        return never;
      }
    }
  }

  /** Whether the deposit needs no more watching. */
  async #settled(): Promise<boolean> {
    const { sql, wakeMerchant } = this.#deps;
    const deposit = await readPendingDeposit(sql, this.#id);
    if (deposit === null) return true;
    if (!await this.#provenDead(deposit.network, deposit.expiresAt)) return false;
    const vanished = await recordVanished(sql, deposit, {
      reason: "the transaction expired without being included",
      to: deposit.to,
    });
    if (!vanished) return false;
    log.info("deposit {depositId} can no longer become final: {txid}", { ...deposit });
    wakeMerchant(deposit.merchantId);
    return true;
  }

  async #provenDead(network: Network, expiresAt: number): Promise<boolean> {
    const solid = await readCursor(this.#deps.sql, network, "solid");
    // inbox rows are written before the cursor moves: what the scan has met is in the inbox already
    return solid !== null && solid.previousTime > expiresAt;
  }
}
