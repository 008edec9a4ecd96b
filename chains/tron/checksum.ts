/**
 * The checksum of a TRON address: the first four bytes of SHA-256 over SHA-256 of its 21 bytes. Both are one
 * block of the hash, so that none of what serves any length is needed: every withdrawal has its destination
 * checked, and the library's hash took four times as long as this.
 *
 * @module
 */

/** Bytes of an address, prefix first. */
const PAYLOAD_BYTES = 21;
const ROUNDS = 64;
/** Words of a hash, and of a block. */
const HASH_WORDS = 8;
const BLOCK_WORDS = 16;
/** The bit that ends a message, in the first byte behind it. */
const END_BIT = 0x80;

/** The constants of SHA-256: of the first primes, the fractions of square roots and of cube roots. */
const { start: START, rounds: ROUND_CONSTANTS } = constants();

function constants(): { readonly start: Int32Array; readonly rounds: Int32Array } {
  const primes: number[] = [];
  for (let n = 2; primes.length < ROUNDS; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return {
    start: Int32Array.from(primes.slice(0, HASH_WORDS), (prime) => fraction(Math.sqrt(prime))),
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}

/** The block that is hashed, with what its rounds are made of behind it; one thread, one call at a time. */
const words = new Int32Array(ROUNDS);
const hash = new Int32Array(HASH_WORDS);

/** Hashes the block at the begin of {@linkcode words} into {@linkcode hash}. */
function hashBlock(): void {
  for (let i = BLOCK_WORDS; i < ROUNDS; i++) {
    const x = words[i - 15] ?? 0;
    const y = words[i - 2] ?? 0;
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ (x >>> 3);
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ (y >>> 10);
    words[i] = ((words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1) | 0;
  }
  let a = START[0] ?? 0;
  let b = START[1] ?? 0;
  let c = START[2] ?? 0;
  let d = START[3] ?? 0;
  let e = START[4] ?? 0;
  let f = START[5] ?? 0;
  let g = START[6] ?? 0;
  let h = START[7] ?? 0;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND_CONSTANTS[i] ?? 0) + (words[i] ?? 0)) | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  hash[0] = (START[0] ?? 0) + a;
  hash[1] = (START[1] ?? 0) + b;
  hash[2] = (START[2] ?? 0) + c;
  hash[3] = (START[3] ?? 0) + d;
  hash[4] = (START[4] ?? 0) + e;
  hash[5] = (START[5] ?? 0) + f;
  hash[6] = (START[6] ?? 0) + g;
  hash[7] = (START[7] ?? 0) + h;
}

/**
 * The checksum of an address, as one number of 32 bits without a sign.
 *
 * @param bytes begin with the 21 bytes of the address; what is behind them does not count
 */
export function addressChecksum(bytes: Uint8Array): number {
  words.fill(0, 0, BLOCK_WORDS);
  for (let i = 0; i < PAYLOAD_BYTES; i++) setByte(i, bytes[i] ?? 0);
  setByte(PAYLOAD_BYTES, END_BIT);
  words[BLOCK_WORDS - 1] = 8 * PAYLOAD_BYTES;
  hashBlock();
  words.fill(0, 0, BLOCK_WORDS);
  words.set(hash);
  setByte(4 * HASH_WORDS, END_BIT);
  words[BLOCK_WORDS - 1] = 32 * HASH_WORDS;
  hashBlock();
  return (hash[0] ?? 0) >>> 0;
}

function setByte(at: number, byte: number): void {
  words[at >> 2] = (words[at >> 2] ?? 0) | byte << (24 - 8 * (at & 3));
}
