/**
 * The checksum of Base58Check: the first four bytes of SHA-256 twice, for messages that fit one
 * block. Only for checksums of public addresses; whatever is secret or signed uses @noble/hashes.
 *
 * Each of the 300 receivers in a busy block needs one. Without a hash object and its buffers per
 * call it takes 0.6 us instead of 2.3 us; a test holds it to @noble/hashes.
 *
 * @module
 */

/** The longest message that fits one block with its padding. */
const LONGEST = 55;
const WORDS = 64;
const STATE_WORDS = 8;

/** The first `count` primes. */
function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  }
  return found;
}

/** The first 32 bits of the fraction. */
function fraction(x: number): number {
  return Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
}

/** FIPS 180-4: fractions of the cube roots of the first 64 primes. */
const ROUND = Int32Array.from(primes(WORDS), (prime) => fraction(Math.cbrt(prime)));
/** FIPS 180-4: fractions of the square roots of the first 8 primes. */
const INITIAL = Int32Array.from(primes(STATE_WORDS), (prime) => fraction(Math.sqrt(prime)));

const words = new Int32Array(WORDS);
const state = new Int32Array(STATE_WORDS);

/** Rotates right. */
function rotate(x: number, bits: number): number {
  return (x >>> bits) | (x << (32 - bits));
}

/** A word of the initial state. */
function initial(i: number): number {
  return INITIAL[i] as number;
}

/** One compression of `words[0..15]` from the initial state into `state`. */
function compress(): void {
  for (let i = 16; i < WORDS; i++) {
    const a = words[i - 15] as number;
    const b = words[i - 2] as number;
    const low = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const high = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    words[i] = (words[i - 16] as number) + low + (words[i - 7] as number) + high;
  }
  let a = initial(0);
  let b = initial(1);
  let c = initial(2);
  let d = initial(3);
  let e = initial(4);
  let f = initial(5);
  let g = initial(6);
  let h = initial(7);
  for (let i = 0; i < WORDS; i++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + sum1 + choice + (ROUND[i] as number) + (words[i] as number)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + sum0 + majority) | 0;
  }
  state[0] = initial(0) + a;
  state[1] = initial(1) + b;
  state[2] = initial(2) + c;
  state[3] = initial(3) + d;
  state[4] = initial(4) + e;
  state[5] = initial(5) + f;
  state[6] = initial(6) + g;
  state[7] = initial(7) + h;
}

/**
 * The checksum of a message.
 *
 * @param message at most 55 bytes
 * @returns the first four bytes of the double hash as a signed 32-bit integer, big end first
 * @throws {RangeError} when the message does not fit one block
 */
export function doubleSha256Checksum(message: Uint8Array): number {
  const { length } = message;
  if (length > LONGEST) {
    throw new RangeError(`Cannot hash in one block as the message is too long: ${length} bytes`);
  }
  words.fill(0, 0, 16);
  for (let i = 0; i < length; i++) {
    words[i >> 2] = (words[i >> 2] as number) | ((message[i] as number) << (24 - 8 * (i & 3)));
  }
  words[length >> 2] = (words[length >> 2] as number) | (0x80 << (24 - 8 * (length & 3)));
  words[15] = length * 8;
  compress();
  words.set(state);
  words[8] = 0x80 << 24;
  words.fill(0, 9, 15);
  words[15] = STATE_WORDS * 32;
  compress();
  return state[0] as number;
}
