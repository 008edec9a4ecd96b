/**
 * Time-ordered identifiers: UUID version 7 (RFC 9562, section 5.7). The 74 bits after the time are
 * a counter of 32 bits, which begins anywhere each millisecond so that ids of one process rise
 * strictly (method 1 of section 6.2), and 42 random ones. A withdrawal mints five.
 *
 * @module
 */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Random bytes are fetched for this many ids at once: a call for each cost more than the rest. */
const IDS_PER_FETCH = 256;
/** 4 begin the counter of a new millisecond, 6 are the id's own. */
const BYTES_PER_ID = 10;

const random = new Uint8Array(IDS_PER_FETCH * BYTES_PER_ID);
let used = random.length;
let lastMs = -Infinity;
let counter = 0;
/** The first two groups, which are the time. */
let time = "";

/** A new id in its canonical form of 36 characters, greater than all before it. */
export function uuidV7(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  const at = used;
  used += BYTES_PER_ID;
  const now = Date.now();
  if (now > lastMs) {
    // the highest bit is left free, for counting up
    counter = (byte(at) & 0x7f) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    setTime(now);
  } else {
    counter = (counter + 1) >>> 0;
    if (counter === 0) setTime(lastMs + 1);
  }
  const high = 0x7000 | counter >>> 20;
  const middle = 0x8000 | counter >>> 6 & 0x3fff;
  const low = counter << 2 & 0xff | byte(at + 4) & 0x03;
  return `${time}-${hex(high >>> 8)}${hex(high & 0xff)}-${hex(middle >>> 8)}${hex(middle & 0xff)}-${
    hex(low)
  }${hex(byte(at + 5))}${hex(byte(at + 6))}${hex(byte(at + 7))}${hex(byte(at + 8))}${
    hex(byte(at + 9))
  }`;
}

function setTime(ms: number): void {
  lastMs = ms;
  const digits = ms.toString(16).padStart(12, "0");
  time = `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

function byte(index: number): number {
  return random[index] as number;
}

function hex(value: number): string {
  return HEX[value] as string;
}
