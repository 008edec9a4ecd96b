/** Pages that are remembered at most; about 150 bytes each. */
const MOST = 100_000;

/**
 * Hosted pages that are known on this node to exist, by the hash of their session's token. A token
 * is as long, and as new each time, as its sender likes: only a session that was made or found may
 * have a limit of its own.
 */
export class KnownSessions {
  // in the order in which they were found: pages are open for minutes, so the first are the oldest
  readonly #hashes = new Set<string>();

  /** True where the session is known to exist. */
  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  /** Remembers a session, forgetting the oldest where there are too many. */
  add(hash: string): void {
    this.#hashes.add(hash);
    if (this.#hashes.size <= MOST) return;
    const [oldest] = this.#hashes;
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }
}
