/**
 * The commits that this process has acknowledged of late. After a change of the database's history those commits
 * are looked for, and what is gone is written down: merchants were told that it is durable.
 *
 * @module
 */

import type { AcknowledgedCommit, AcknowledgedRecord } from "../../ledger/failover/history.ts";
import type { MerchantChanges } from "../../ledger/journal/write_batch.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";

/** Commits are remembered for so many milliseconds: longer than an asynchronous standby is ever behind unnoticed. */
const KEEP_MS = 120_000;
/** The most records that are remembered: two minutes of some 1,500 a second. */
const MOST = 200_000;
/** Forgotten commits are cut off in one go when they are at least so many, and half of all. */
const CUT_FROM = 100;

/** Batches whose answer was lost that are remembered. */
const MOST_UNKNOWN = 100;

/** The commits of the last minutes. */
export class AcknowledgedCommits {
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #commits: (AcknowledgedCommit & { readonly since: number })[] = [];
  /** Index of the first one that is not forgotten; the rest is cut off now and then. */
  #first = 0;
  /** Records of those that are not forgotten. */
  #records = 0;

  /**
   * @param now Unix milliseconds, for what is shown
   * @param monotonic milliseconds of a clock that is never set
   */
  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now;
    this.#monotonic = monotonic;
  }

  /** Those that are remembered, oldest first. */
  get all(): readonly AcknowledgedCommit[] {
    return this.#commits.slice(this.#first);
  }

  /** Commits in memory, those that are forgotten and not cut off yet among them. */
  get size(): number {
    return this.#commits.length;
  }

  /** Remembers a commit that is about to be acknowledged. */
  add(commitId: string, changes: readonly MerchantChanges[]): void {
    const since = this.#monotonic();
    const records = changes.flatMap(recordsOf);
    if (records.length === 0) return;
    this.#commits.push({ commitId, at: this.#now(), since, records });
    this.#records += records.length;
    this.forgetOld();
  }

  /**
   * Forgets what is older than two minutes. Called while the database is seen to continue the known history, and
   * not by the reader: while the database is away, for however long, what was acknowledged before may turn out lost.
   */
  forgetOld(): void {
    const since = this.#monotonic();
    for (let oldest = this.#commits[this.#first]; oldest !== undefined;) {
      if (this.#records <= MOST && oldest.since >= since - KEEP_MS) break;
      this.#records -= oldest.records.length;
      oldest = this.#commits[++this.#first];
    }
    if (this.#first < CUT_FROM || this.#first < this.#commits.length / 2) return;
    this.#commits = this.#commits.slice(this.#first);
    this.#first = 0;
  }
}

/** A store whose commits are remembered before they are acknowledged. */
export function remembering(store: JournalStore, commits: AcknowledgedCommits): JournalStore {
  /** Batches whose answer was lost, until their fate is known. */
  const unknown = new Map<string, readonly MerchantChanges[]>();
  const survivors = (changes: readonly MerchantChanges[], isIn: (merchantId: string) => boolean) =>
    changes.filter(({ account }) => isIn(account.merchantId));
  return {
    ...store,
    writeBatch: async (...args) => {
      const [commitId, , changes] = args;
      try {
        const misses = await store.writeBatch(...args);
        const missed = new Set(misses.map(({ merchantId }) => merchantId));
        commits.add(commitId, survivors(changes, (merchantId) => !missed.has(merchantId)));
        return misses;
      } catch (error) {
        unknown.set(commitId, changes);
        // most errors leave nothing to ask about: what was asked about is among the newest
        for (const oldest of unknown.keys()) {
          if (unknown.size <= MOST_UNKNOWN) break;
          unknown.delete(oldest);
        }
        throw error;
      }
    },
    resolveCommit: async (...args) => {
      const [commitId] = args;
      const resolution = await store.resolveCommit(...args);
      const happened = resolution.survivors;
      const changes = unknown.get(commitId);
      if (resolution.waiting.size === 0) unknown.delete(commitId);
      if (happened !== null && changes !== undefined) {
        commits.add(commitId, survivors(changes, (merchantId) => happened.has(merchantId)));
      }
      return resolution;
    },
  };
}

/** The records that a merchant was answered with; deposits are read from the chain again, so they are not among them. */
function recordsOf(changes: MerchantChanges): readonly AcknowledgedRecord[] {
  const { account: { merchantId }, created, openings, once } = changes;
  const withdrawals = [...openings, ...created.withdrawals].map((row): AcknowledgedRecord => ({
    merchantId,
    kind: "withdrawal",
    recordId: row.id,
    referenceId: row.referenceId,
    network: row.network,
    currency: row.currency,
    amount: row.amount,
    destination: row.destination,
  }));
  const none = { referenceId: null, currency: null, amount: null };
  const addresses = created.addresses.map((row): AcknowledgedRecord => ({
    ...none,
    merchantId,
    kind: "address",
    recordId: row.id,
    network: row.network,
    destination: row.address,
  }));
  if (withdrawals.length + addresses.length > 0 || once.consumed.length > 0) {
    return [...withdrawals, ...addresses];
  }
  return [{
    ...none,
    merchantId,
    kind: "other",
    recordId: merchantId,
    network: null,
    destination: null,
  }];
}
