/**
 * Actors that handle one message at a time: created on their first message, dropped when idle,
 * reloaded with back-off when they throw. A message between them is only a wake-up; whatever must
 * survive is a durable row that `activate` finds again.
 *
 * (Merchant actors have the same rules but share the journal's loop, see actors/merchant.)
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";
import { logEvent } from "../../log/log_event.ts";
import { within } from "./within.ts";

/** An actor in memory. */
export interface Actor<M> {
  /** Handles one message; the next one waits until this is over. */
  receive(message: M): Promise<void>;
}

/** A kind of actors: how they are made and bounded. */
export interface ActorKind<M> {
  /** First part of their addresses, for example `treasury`. */
  readonly name: string;
  /** The most messages that wait for one actor. */
  readonly mailboxCapacity: number;
  /** Drops an actor that had nothing to do for this long; never when null. */
  readonly idleMs: number | null;
  /**
   * True if an error says that something outside is away (a node, the database). The message is
   * then tried until it comes back, and is not to blame.
   */
  isTransient(error: unknown): boolean;
  /**
   * Milliseconds for which what is away asks to be left alone; 0: unknown. The actor then tries at
   * that moment: with pauses of its own it would always find others there before it.
   */
  coolDownMs?(id: string): number;
  /**
   * The most actors of the kind that work at the same time; the others wait for their turn. Without it
   * a thousand that wake at once would take all connections from everything else.
   */
  readonly atOnce?: number;
  /** Loads an actor from its durable rows. */
  activate(id: string): Promise<Actor<M>>;
}

/** Treatment of actors that fail. */
export interface Supervision {
  /** Pause before the first reload; doubled up to `backoffMaxMs`. */
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** Times that one message may throw before it is quarantined with an alarm. */
  readonly tries: number;
}

const SUPERVISION: Supervision = { backoffMs: 100, backoffMaxMs: 5_000, tries: 5 };

class Cell<M> {
  readonly mailbox: M[] = [];
  actor: Actor<M> | null = null;
  running: Promise<void> | null = null;
  idle: ReturnType<typeof setTimeout> | null = null;
  /** Since when it handles a message, milliseconds of the monotonic clock. */
  busySince: number | null = null;
}

/** All actors of one kind. */
export class Actors<M> {
  readonly #cells = new Map<string, Cell<M>>();
  #closed = false;
  #abandoned = false;
  #quarantined = 0;
  #working = 0;
  readonly #turns: (() => void)[] = [];

  constructor(readonly kind: ActorKind<M>, readonly supervision: Supervision = SUPERVISION) {}

  /** Actors in memory, and messages quarantined so far. */
  get figures(): { readonly active: number; readonly quarantined: number } {
    return { active: this.#cells.size, quarantined: this.#quarantined };
  }

  /** Actors that have handled one message for longer than that; an actor is never broken off. */
  busyFor(longerThanMs: number): readonly { readonly id: string; readonly ms: number }[] {
    const now = performance.now();
    const busy: { id: string; ms: number }[] = [];
    for (const [id, { busySince }] of this.#cells) {
      if (busySince !== null && now - busySince > longerThanMs) {
        busy.push({ id, ms: now - busySince });
      }
    }
    return busy;
  }

  /** Puts a message into an actor's mailbox; `false`: it is full, or the system is stopping. */
  tell(id: string, message: M): boolean {
    if (this.#closed) return false;
    let cell = this.#cells.get(id);
    if (cell === undefined) {
      cell = new Cell();
      this.#cells.set(id, cell);
    }
    if (cell.mailbox.length >= this.kind.mailboxCapacity) return false;
    cell.mailbox.push(message);
    if (cell.idle !== null) clearTimeout(cell.idle);
    cell.idle = null;
    cell.running ??= this.#run(id, cell);
    return true;
  }

  /**
   * Takes no more messages and finishes those that wait.
   *
   * @param boundMs after this long the rest is left to the durable rows
   */
  async stop(boundMs: number): Promise<void> {
    this.#closed = true;
    await within(boundMs, Promise.all([...this.#cells.values()].map(({ running }) => running)));
    this.#abandoned = true;
    for (const [id, cell] of this.#cells) this.#drop(id, cell);
  }

  async #run(id: string, cell: Cell<M>): Promise<void> {
    // the sender's turn of the event loop ends before the receiver's begins
    await Promise.resolve();
    for (;;) {
      const message = cell.mailbox.shift();
      if (message === undefined) break;
      await this.#handle(id, cell, message);
    }
    cell.running = null;
    if (this.#closed || this.kind.idleMs === 0) this.#drop(id, cell);
    else if (this.kind.idleMs !== null) {
      cell.idle = setTimeout(() => this.#drop(id, cell), this.kind.idleMs);
    }
  }

  async #handle(id: string, cell: Cell<M>, message: M): Promise<void> {
    const { backoffMs, backoffMaxMs, tries } = this.supervision;
    let pause = backoffMs;
    for (let failures = 0; failures < tries && !this.#abandoned;) {
      try {
        await this.#inTurn(cell, async () => {
          cell.actor ??= await this.kind.activate(id);
          await cell.actor.receive(message);
        });
        return;
      } catch (error) {
        cell.actor = null;
        const transient = this.kind.isTransient(error);
        if (!transient) failures++;
        logEvent("actor.reloaded", {
          kind: this.kind.name,
          id,
          what: transient ? "waits for what is away" : "failed and is reloaded",
          error,
        });
        // waiting ends with the actor's part in it: when the process stops, or the bound is over
        if (transient && this.#closed) return;
        const coolDown = transient ? this.kind.coolDownMs?.(id) ?? 0 : 0;
        const wait = Math.min(coolDown > 0 ? coolDown : pause, backoffMaxMs);
        await delay(wait);
        pause = Math.min(pause * 2, backoffMaxMs);
      }
    }
    if (this.#abandoned) return;
    this.#quarantined++;
    logEvent("actor.message_quarantined", {
      kind: this.kind.name,
      id,
      message,
    });
  }

  /** Works when there is room for one more of the kind; what waits for its pause holds no place. */
  async #inTurn(cell: Cell<M>, work: () => Promise<void>): Promise<void> {
    if (this.#working >= (this.kind.atOnce ?? Infinity)) {
      await new Promise<void>((resolve) => this.#turns.push(resolve));
    } else {
      this.#working++;
    }
    cell.busySince = performance.now();
    try {
      await work();
    } finally {
      cell.busySince = null;
      const next = this.#turns.shift();
      if (next === undefined) this.#working--;
      else next();
    }
  }

  #drop(id: string, cell: Cell<M>): void {
    if (cell.running !== null && !this.#abandoned) return;
    if (cell.idle !== null) clearTimeout(cell.idle);
    cell.idle = null;
    cell.actor = null;
    this.#cells.delete(id);
  }
}
