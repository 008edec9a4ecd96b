const FIRST_SIZE = 4 * 1024;

export class GrowingBytes {
  #buffer = new Uint8Array(FIRST_SIZE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The bytes so far; they are overwritten after {@linkcode clear}. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  add(bytes: Uint8Array): void {
    const size = this.#size + bytes.length;
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#buffer.length));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#size);
    this.#size = size;
  }

  /** Adds one byte. */
  put(byte: number): void {
    if (this.#size < this.#buffer.length) this.#buffer[this.#size++] = byte;
    else this.add(Uint8Array.of(byte));
  }

  /** Forgets all of them; a buffer that has grown long is given up. */
  clear(): void {
    this.#size = 0;
    if (this.#buffer.length > 256 * FIRST_SIZE) this.#buffer = new Uint8Array(FIRST_SIZE);
  }

  /** Gives all of them away; there are none then. */
  take(): Uint8Array {
    const bytes = this.bytes;
    this.#buffer = new Uint8Array(FIRST_SIZE);
    this.#size = 0;
    return bytes;
  }
}
