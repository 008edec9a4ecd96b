/**
 * The time of everything that is stored: the database's, carried on by the monotonic clock between
 * two readings. A machine's own clock that is set, for a moment or for good, changes nothing; nodes
 * whose clocks differ agree; and what this process writes is never ahead of what the database
 * compares it with.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { AnySql } from "./connect.ts";

/** Between two readings, milliseconds. */
const EVERY_MS = 2_000;
/** A reading whose answer took longer says too little. */
const VAGUE_MS = 1_000;
/** A difference above this is believed only when the next reading says the same. */
const STEP_MS = 1_000;

/** Reads the database's clock, Unix milliseconds with their fraction. */
export async function readDatabaseTime(sql: AnySql): Promise<number> {
  const [row] = await sql<{ at: number }[]>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`;
  if (row === undefined) throw new Error("Cannot tell the time as the database answers nothing");
  return row.at;
}

/** The clocks that a {@linkcode DatabaseClock} rests on. */
export interface ClockSources {
  /** Asks the database, Unix milliseconds. */
  readonly read: () => Promise<number>;
  /** The machine's own clock, Unix milliseconds; default `Date.now`. */
  readonly wall?: () => number;
  /** A clock that is never set, milliseconds; default `performance.now`. */
  readonly monotonic?: () => number;
}

/** Differences between the clocks, for readiness and metrics. */
export interface ClockFigures {
  /** Milliseconds by which the machine's own clock is ahead of the database's; negative: behind. */
  readonly aheadMs: number;
  /** Count of jumps of the database's clock, as after a failover to another machine. */
  readonly jumps: number;
  /** Milliseconds since the database's time was last read. */
  readonly ageMs: number;
}

/** The database's time in this process. */
export class DatabaseClock {
  readonly #read: () => Promise<number>;
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  /** Database time less monotonic time; `null` before the first reading. */
  #offset: number | null = null;
  /** The last reading, where that was too far off to be believed at once. */
  #doubted: number | null = null;
  #readAt = 0;
  #jumps = 0;
  #ticker: ReturnType<typeof setInterval> | undefined;
  #reading: Promise<void> | null = null;

  constructor({ read, wall, monotonic }: ClockSources) {
    this.#read = read;
    this.#wall = wall ?? Date.now;
    this.#monotonic = monotonic ?? (() => performance.now());
  }

  /** Unix milliseconds by the database's clock; by the machine's own before the first reading. */
  now(): number {
    return Math.floor(this.#offset === null ? this.#wall() : this.#offset + this.#monotonic());
  }

  /** Differences between the clocks. */
  get figures(): ClockFigures {
    return {
      aheadMs: this.#wall() - this.now(),
      jumps: this.#jumps,
      ageMs: this.#offset === null ? 0 : this.#monotonic() - this.#readAt,
    };
  }

  /** Reads the database's clock once. @throws when the database does not answer */
  async sync(): Promise<void> {
    const asked = this.#monotonic();
    const time = await this.#read();
    const answered = this.#monotonic();
    // the answer was made somewhere between the two
    const vagueness = (answered - asked) / 2;
    if (this.#offset !== null && vagueness * 2 > VAGUE_MS) return;
    this.#readAt = answered;
    this.#follow(time - (asked + answered) / 2, vagueness);
  }

  /** Reads it now, and again every few seconds. @throws when the first reading fails */
  async start(): Promise<void> {
    await this.sync();
    this.#ticker = setInterval(() => {
      this.#reading ??= this.sync().catch((error: unknown) => {
        logEvent("clock.unread", { error });
      }).finally(() => this.#reading = null);
    }, EVERY_MS);
  }

  /** Reads no more. */
  async stop(): Promise<void> {
    clearInterval(this.#ticker);
    await this.#reading;
  }

  #follow(offset: number, vagueness: number): void {
    const before = this.#offset;
    if (before === null) {
      this.#offset = offset;
      return;
    }
    const change = offset - before;
    if (Math.abs(change) <= STEP_MS) {
      this.#doubted = null;
      // what lies within the doubt of the reading is no reason to move
      if (Math.abs(change) > vagueness) this.#offset = offset;
      return;
    }
    const isConfirmed = this.#doubted !== null && Math.abs(offset - this.#doubted) <= STEP_MS;
    this.#doubted = isConfirmed ? null : offset;
    if (!isConfirmed) return;
    this.#offset = offset;
    this.#jumps++;
    logEvent("clock.jumped", {
      seconds: Math.round(change / 1_000),
    });
  }
}
