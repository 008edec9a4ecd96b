/**
 * Identifiers: a prefix that says what is named, and a UUIDv7, so that ids sort by creation.
 *
 * @module
 */

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

/** Random bits for ids to come: to ask for many takes hardly longer than to ask for those of one. */
const random = new Uint32Array(2_048);
let used = random.length;
/** The beginning of all ids of one millisecond. */
const beginning = { msecs: -1, text: "" };

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
  return `${prefix}_${uuidOf(last)}`;
}

/**
 * A UUIDv7 (RFC 9562, 5.7): 48 bits of time, a number of 32 bits and 42 random ones. Made as text at
 * once: every payment has half a dozen, and by way of bytes they were a twentieth of its cost.
 */
function uuidOf({ msecs, seq }: typeof last): string {
  if (beginning.msecs !== msecs) {
    const digits = msecs.toString(16).padStart(12, "0");
    beginning.msecs = msecs;
    beginning.text = `${digits.slice(0, 8)}-${digits.slice(8)}-`;
  }
  const version = (0x7000 | (seq >>> 20)).toString(16);
  const variant = (0x8000 | ((seq >>> 6) & 0x3fff)).toString(16);
  const rest = sixDigits(((seq & 0x3f) << 18) | (nextRandom() >>> 14));
  return `${beginning.text}${version}-${variant}-${rest}${sixDigits(nextRandom() >>> 8)}`;
}

/** A number of 24 bits in hexadecimal. */
function sixDigits(number: number): string {
  return (0x100_0000 | number).toString(16).slice(1);
}

/** 32 random bits. */
function nextRandom(): number {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  return random[used++] ?? 0;
}
