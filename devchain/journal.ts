/**
 * A file of commits that only grows: each is one line of JSON, flushed before the call returns. One process
 * at a time holds it.
 *
 * @module
 */

const NEWLINE = 0x0a;
const READ_BYTES = 1 << 20;

/** Opens a file that only grows, or makes it. */
export function openGrowing(path: string): Deno.FsFile {
  return Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
}

/** Writes all bytes at the end of a file. */
export function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}

/** The commits of a chain. */
export class Journal<T> {
  readonly #file: Deno.FsFile;

  constructor(path: string) {
    this.#file = openGrowing(path);
  }

  /**
   * Reads all commits, oldest first. The end of one that a crash cut off is removed: it was not
   * acknowledged.
   *
   * @throws when another process holds the file, or a line is no JSON
   */
  replay(carryOut: (commit: T) => void): void {
    if (!this.#file.tryLockSync(true)) throw new Error("Cannot read as another process holds it");
    const buffer = new Uint8Array(READ_BYTES);
    let carry = new Uint8Array();
    let end = 0;
    for (;;) {
      const count = this.#file.readSync(buffer);
      if (count === null) break;
      const bytes = new Uint8Array(carry.length + count);
      bytes.set(carry);
      bytes.set(buffer.subarray(0, count), carry.length);
      const cut = bytes.lastIndexOf(NEWLINE) + 1;
      for (
        const line of new TextDecoder().decode(bytes.subarray(0, cut)).split("\n").slice(0, -1)
      ) {
        carryOut(JSON.parse(line));
      }
      carry = bytes.slice(cut);
      end += cut;
    }
    this.#file.truncateSync(end);
  }

  /** Makes a commit durable. */
  append(commit: T): void {
    writeAll(this.#file, new TextEncoder().encode(`${JSON.stringify(commit)}\n`));
    this.#file.syncDataSync();
  }

  close(): void {
    // a program that is just being started holds a copy of the file for a moment, and with it the lock
    this.#file.unlockSync();
    this.#file.close();
  }
}
