/**
 * Writes RLP from its end to its beginning into one buffer that is used again: a list's length is known
 * when its members are written, so that nothing is measured first and nothing is copied.
 *
 * Receipts of a busy block are half a megabyte: with viem's encoder, which makes an object of each
 * member first, the same took five times as long.
 *
 * @module
 */

/** Prefixes of RLP, after the Ethereum yellow paper, appendix B. */
const TEXT = 0x80;
const LIST = 0xc0;
/** Longer than this, the length itself is written as bytes. */
const SHORT = 55;
const FIRST_SIZE = 1 << 16;
/** Far above what is written of an ordinary block at once. */
const LARGEST_KEPT = 1 << 22;

/** Digits of hexadecimal by the codes of their characters; anything else counts as zero. */
const DIGITS = digitsByCode();

function digitsByCode(): Uint8Array {
  const digits = new Uint8Array(256);
  for (let digit = 0; digit < 16; digit++) {
    const text = digit.toString(16);
    digits[text.charCodeAt(0)] = digit;
    digits[text.toUpperCase().charCodeAt(0)] = digit;
  }
  return digits;
}

/** One buffer of RLP. Members are written in reverse order, a list's length after its members. */
export class RlpWriter {
  #buffer = new Uint8Array(FIRST_SIZE);
  #at = FIRST_SIZE;

  /** Number of bytes that were written. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  /** Forgets what was written, with the memory that something large has taken. */
  reset(): void {
    if (this.#buffer.length > LARGEST_KEPT) this.#buffer = new Uint8Array(FIRST_SIZE);
    this.#at = this.#buffer.length;
  }

  /** A copy of what was written. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(this.#at);
  }

  /** Writes one byte as it is. */
  raw(byte: number): void {
    this.#makeRoom(1);
    this.#buffer[--this.#at] = byte;
  }

  /** Writes bytes as they are: an item that is encoded already. */
  rawBytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  /** Writes a byte string. */
  text(bytes: Uint8Array): void {
    this.rawBytes(bytes);
    this.#head(bytes.length);
  }

  /** Writes a byte string given as hexadecimal with `0x` before it. */
  hex(text: string): void {
    const count = (text.length - 2) >> 1;
    this.#makeRoom(count);
    const buffer = this.#buffer;
    this.#at -= count;
    let to = this.#at;
    for (let i = 2; i + 1 < text.length; i += 2) {
      const high = DIGITS[text.charCodeAt(i)] ?? 0;
      const low = DIGITS[text.charCodeAt(i + 1)] ?? 0;
      buffer[to++] = high << 4 | low;
    }
    this.#head(count);
  }

  /** Writes a whole number up to 2^53 as its bytes without leading zeros. */
  number(value: number): void {
    const before = this.size;
    for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) this.raw(rest % 256);
    this.#head(this.size - before);
  }

  /** Makes a list of everything that was written since the buffer had a size. */
  list(since: number): void {
    const count = this.size - since;
    if (count <= SHORT) this.raw(LIST + count);
    else this.#long(count, LIST);
  }

  /** The head of a byte string that stands at the beginning; a small byte is its own item. */
  #head(count: number): void {
    if (count === 1 && (this.#buffer[this.#at] ?? 0) < TEXT) return;
    if (count <= SHORT) this.raw(TEXT + count);
    else this.#long(count, TEXT);
  }

  #long(count: number, prefix: number): void {
    const before = this.size;
    for (let rest = count; rest > 0; rest = Math.floor(rest / 256)) this.raw(rest % 256);
    this.raw(prefix + SHORT + this.size - before);
  }

  #makeRoom(count: number): void {
    if (count <= this.#at) return;
    const larger = new Uint8Array(2 * this.#buffer.length + count);
    const at = larger.length - this.size;
    larger.set(this.#buffer.subarray(this.#at), at);
    this.#buffer = larger;
    this.#at = at;
  }
}
