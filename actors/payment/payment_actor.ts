/**
 * One actor per payment in flight. It keeps no second copy of the payment's status; it holds the
 * payment's timers and asks the merchant, through the inbox, for what has become due.
 *
 * Today: the expiry of a deposit that was seen but is not final. A reorganisation alone changes
 * nothing; the deposit is given up only when our own scan of solid blocks has passed the expiry of
 * its transaction without meeting it, and has left out no block that could hold it.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor, readUnbrokenScan } from "../../ledger/watcher/cursor.ts";
import {
  type PendingTransfer,
  readPendingDeposit,
  readUnwatchedDeposits,
} from "../../ledger/watcher/pending_deposits.ts";
import { recordVanished } from "../../ledger/watcher/record_transfers.ts";
import { isAway } from "../runtime/is_away.ts";
import type { PendingDeposit } from "../journal/context.ts";
import { type Actor, type ActorKind, Actors } from "../runtime/actor.ts";
import { type DueTimer, Timers } from "../runtime/timers.ts";

/** Payments that work together: however many timers are due, reads of others find a connection. */
const AT_ONCE = 4;
/** Deposits that one poll begins to watch. */
const UNWATCHED_LIMIT = 1_000;
/** Name of the timer of a deposit's expiry. */
const EXPIRY = "expiry";
/**
 * Blocks that a transfer may move down in a reorganisation, from the one it was seen in: far more than a
 * chain is ahead of its newest solid block. Where nothing is missing, nothing is logged.
 */
const DEEPEST_RETURN = 1_000;

/** A message to a payment actor. */
export type PaymentMessage =
  /** A deposit was seen; watch its expiry. */
  | { readonly type: "watch-expiry"; readonly expiresAt: number }
  /** A timer of the payment is due. */
  | { readonly type: "timer"; readonly name: string };

export interface PaymentDeps {
  readonly sql: Sql;
  readonly timers: Timers;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Pause between two checks of one deposit of a network, milliseconds. */
  readonly recheckMs: (network: Network) => number;
  /** Has a merchant's inbox read: it has rows. */
  readonly wakeMerchant: (merchantId: string) => void;
}

/** The kind of actor that looks after one payment each. */
export function paymentActors(deps: PaymentDeps): ActorKind<PaymentMessage> {
  const logged = new Map<Network, number>();
  return {
    name: "payment",
    mailboxCapacity: 16,
    idleMs: 0,
    atOnce: AT_ONCE,
    isTransient: isAway,
    activate: (id) => Promise.resolve(new PaymentActor(id, deps, logged)),
  };
}

/** The payments in flight of a node, with their timers. */
export class Payments {
  readonly #deps: Omit<PaymentDeps, "timers">;
  readonly #timers: Timers;
  readonly actors: Actors<PaymentMessage>;

  constructor(deps: Omit<PaymentDeps, "timers">) {
    this.#deps = deps;
    this.#timers = new Timers(deps.sql, (timer) => this.#deliver(timer));
    this.actors = new Actors(paymentActors({ ...deps, timers: this.#timers }));
  }

  /** Timers that cannot be delivered. */
  get brokenTimers(): number {
    return this.#timers.broken;
  }

  /** Sets the timers of deposits that were seen. */
  watch(deposits: readonly PendingDeposit[]): void {
    for (const { depositId, expiresAt } of deposits) {
      this.actors.tell(depositId, { type: "watch-expiry", expiresAt });
    }
  }

  /** Sets the timers of deposits that no payment actor watches. */
  async watchMissed(): Promise<void> {
    this.watch(await readUnwatchedDeposits(this.#deps.sql, UNWATCHED_LIMIT));
  }

  /** Looks for due timers of all networks from now on, every `everyMs` milliseconds. */
  start(everyMs: number): void {
    this.#timers.start(everyMs);
  }

  /** Delivers no more timers. */
  async stopTimers(): Promise<void> {
    await this.#timers.stop();
  }

  #deliver({ address: { kind, id }, name }: DueTimer): void {
    if (kind !== "payment") {
      throw new Error(`Cannot deliver a timer as it belongs to no kind of actor: ${kind}/${id}`);
    }
    this.actors.tell(id, { type: "timer", name });
  }
}

class PaymentActor implements Actor<PaymentMessage> {
  readonly #id: string;
  readonly #deps: PaymentDeps;
  /** The gaps that were logged, by where each ends. */
  readonly #logged: Map<Network, number>;

  constructor(id: string, deps: PaymentDeps, logged: Map<Network, number>) {
    this.#id = id;
    this.#deps = deps;
    this.#logged = logged;
  }

  async receive(message: PaymentMessage): Promise<void> {
    const { timers } = this.#deps;
    const address = { kind: "payment", id: this.#id };
    switch (message.type) {
      case "watch-expiry":
        return await timers.set(address, EXPIRY, message.expiresAt);
      case "timer": {
        const waitsMs = message.name === EXPIRY ? await this.#checkExpiry() : null;
        return waitsMs === null
          ? await timers.clear(address, message.name)
          : await timers.set(address, EXPIRY, this.#deps.now() + waitsMs);
      }
      default: {
        const never: never = message;
        return never;
      }
    }
  }

  /** Milliseconds until the deposit is to be checked again; null where it needs no more watching. */
  async #checkExpiry(): Promise<number | null> {
    const { sql, wakeMerchant } = this.#deps;
    const deposit = await readPendingDeposit(sql, this.#id);
    if (deposit === null) return null;
    const waitsMs = this.#deps.recheckMs(deposit.network);
    const proof = await this.#proofOfDeath(deposit);
    if (proof === null) return waitsMs;
    const finding = { reason: "the transaction expired without being included", to: deposit.to };
    const vanished = await recordVanished(sql, deposit, finding, proof.history);
    if (!vanished) return waitsMs;
    logEvent("deposit.expired", { ...deposit });
    wakeMerchant(deposit.merchantId);
    return null;
  }

  /** The solid cursor by which it can be in no block any more, or null. */
  async #proofOfDeath(
    { depositId, network, height, diesAfter }: PendingTransfer,
  ): Promise<Cursor | null> {
    const { sql } = this.#deps;
    // inbox rows are written before the cursor moves: what the scan has met is in the inbox already
    const solid = await readCursor(sql, network, "solid");
    if (solid === null || solid.previousTick <= diesAfter) return null;
    const { from, hasGap } = await readUnbrokenScan(sql, network, solid.height);
    if (from <= (hasGap ? height - DEEPEST_RETURN : height)) return solid;
    if (this.#logged.get(network) !== from) {
      this.#logged.set(network, from);
      logEvent("deposit.unproven_expiry", {
        network,
        depositId,
        from,
      });
    }
    return null;
  }
}
