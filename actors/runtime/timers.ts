/**
 * Durable timers: a wake-up for an actor that outlives the process. Delivered at least once; a
 * timer is deleted only after its actor handled it, or moved by the actor itself.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";

/** The most timers that are read at once, and how often in one poll. */
const BATCH_LIMIT = 500;
const BATCHES = 20;
/** The most timers that are remembered as not deliverable. */
const MOST_BROKEN = 1_000;

/** Address of an actor: kind and id. */
export interface ActorAddress {
  readonly kind: string;
  readonly id: string;
}

export interface DueTimer {
  readonly address: ActorAddress;
  readonly name: string;
  readonly dueAt: number;
}

/** Sets and finds durable timers. */
export class Timers {
  readonly #sql: Sql;
  readonly #deliver: (timer: DueTimer) => void;
  #ticker: ReturnType<typeof setTimeout> | null = null;
  #stopped = true;
  /** The last timer that was delivered, where there may be more that are due. */
  #after: TimerRow | null = null;
  #ticking: Promise<void> = Promise.resolve();
  /** Timers that could not be delivered, so that each is logged once. */
  readonly #broken = new Set<string>();

  /** @param deliver hands a due timer to its actor; it comes again until it is cleared or moved */
  constructor(sql: Sql, deliver: (timer: DueTimer) => void) {
    this.#sql = sql;
    this.#deliver = deliver;
  }

  /** Timers that could not be delivered when they were last due. */
  get broken(): number {
    return this.#broken.size;
  }

  /** Sets (or moves) an actor's timer. */
  async set(address: ActorAddress, name: string, dueAt: number): Promise<void> {
    await this.#sql`
      INSERT INTO hub.timer (actor, name, due_at) VALUES (${key(address)}, ${name}, ${new Date(
      dueAt,
    )})
      ON CONFLICT (actor, name) DO UPDATE SET due_at = excluded.due_at`;
  }

  /** Removes an actor's timer, if there is one. */
  async clear(address: ActorAddress, name: string): Promise<void> {
    await this.#sql`DELETE FROM hub.timer WHERE actor = ${key(address)} AND name = ${name}`;
  }

  /** Polls for due timers from now on, every `everyMs` milliseconds. */
  start(everyMs: number): void {
    this.#stopped = false;
    const tick = () => {
      this.#ticking = this.#tick().catch((error) => {
        logEvent("timer.poll_failed", { error });
      }).then(() => {
        if (!this.#stopped) this.#ticker = setTimeout(tick, everyMs);
      });
    };
    tick();
  }

  /** Stops polling. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#ticker !== null) clearTimeout(this.#ticker);
    await this.#ticking;
  }

  /**
   * Delivers what is due, the oldest first. A timer stays due until its actor moves or clears it, so
   * the search goes on after the last one that was delivered: those that no actor can handle just now
   * keep no others waiting.
   */
  async #tick(): Promise<void> {
    for (let batch = 0; batch < BATCHES && !this.#stopped; batch++) {
      const after = this.#after;
      const rows = await this.#sql<TimerRow[]>`
        SELECT actor, name, due_at, due_at::text AS due_text FROM hub.timer
        WHERE due_at <= now() ${
        after === null ? this.#sql`` : this
          .#sql`AND (due_at, actor, name) > (${after.due_text}::text::timestamptz, ${after.actor}, ${after.name})`
      }
        ORDER BY due_at, actor, name LIMIT ${BATCH_LIMIT}`;
      for (const row of rows) this.#hand(row);
      this.#after = rows.length < BATCH_LIMIT ? null : rows.at(-1) ?? null;
      if (this.#after === null) return;
    }
  }

  /** Hands one timer over; one that breaks is logged, and those after it are delivered. */
  #hand(row: TimerRow): void {
    const slash = row.actor.indexOf("/");
    const which = `${row.actor} ${row.name}`;
    try {
      this.#deliver({
        address: { kind: row.actor.slice(0, slash), id: row.actor.slice(slash + 1) },
        name: row.name,
        dueAt: row.due_at.getTime(),
      });
      this.#broken.delete(which);
    } catch (error) {
      if (this.#broken.has(which) || this.#broken.size >= MOST_BROKEN) return;
      this.#broken.add(which);
      logEvent("timer.broken", { which, error });
    }
  }
}

interface TimerRow {
  readonly actor: string;
  readonly name: string;
  readonly due_at: Date;
  /** The same with its microseconds, which a Date has not. */
  readonly due_text: string;
}

function key(address: ActorAddress): string {
  return `${address.kind}/${address.id}`;
}
