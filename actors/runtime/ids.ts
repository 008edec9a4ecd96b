/**
 * Identifiers: a prefix that says what is named, and a UUIDv7, so that ids sort by creation.
 *
 * @module
 */

import { v7 } from "uuid";

/** The prefixes: `rsl` is a reseller, `ses` a hosted session, `out` an outgoing transfer, `fov` a failover. */
export type IdPrefix =
  | ("mer" | "dep" | "wd" | "stl" | "txn" | "adr" | "ses" | "evt")
  | ("key" | "rsl" | "chg" | "aud" | "out" | "rec" | "fov");

/** The newest millisecond that an id was made of, and the number of the id within it. */
const last = { msecs: 0, seq: 0 };
/** Numbers of one millisecond begin in the lower half of what the layout holds, so that they can grow. */
const FIRST_SEQ = 2 ** 30;
const LAST_SEQ = 2 ** 31 - 1;

let clock: () => number = Date.now;

/**
 * Makes ids go by a clock, Unix milliseconds. Events of a payment and lists are sorted by their ids:
 * where a process's own clock was ahead for a moment, what it made then would come last for ever.
 */
export function idsFollow(now: () => number): void {
  clock = now;
  last.msecs = 0;
}

/** Mints an id, for example `wd_0193a1b2-...`. */
export function newId(prefix: IdPrefix): string {
  const now = clock();
  if (now > last.msecs) {
    last.msecs = now;
    last.seq = Math.floor(Math.random() * FIRST_SEQ);
  } else if (last.seq < LAST_SEQ) {
    // the same millisecond, or a clock that was set back: ids of one process keep their order
    last.seq++;
  } else {
    last.msecs++;
    last.seq = 0;
  }
  return `${prefix}_${v7(last)}`;
}
