/**
 * What the journal does with one batch: read what it speaks of, decide, write once, reply after
 * the commit; and what it does when the write misses some of it or loses its answer. A batch that
 * was rolled back as a whole is `recover.ts`.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { v7 } from "uuid";
import type { SliceMiss } from "../../ledger/journal/batch.ts";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { ActiveMerchants } from "./active_merchants.ts";
import { type Committed, committed } from "./committed.ts";
import { decideBatch, type Deciding, type Work } from "./decide_batch.ts";
import type { Decidable } from "./envelope.ts";
import type { Liquidity } from "./hot_funds.ts";
import { untilAnswered } from "./patience.ts";
import {
  comeBackLater,
  recover,
  type Recovering,
  type RolledBack,
  TRIES,
  unsettled,
} from "./recover.ts";
import type { Slice } from "./slice.ts";

const log = getLogger(["engine", "journal"]);

/** How many merchants stay in memory. */
const ACTIVE_MERCHANTS = 10_000;

/** What a batch processor works with. */
export interface BatchOptions {
  readonly store: JournalStore;
  readonly onCommitted: (news: Committed) => void;
  readonly liquidity: Liquidity;
  /** Says that a merchant's inbox still has rows. */
  readonly wake: (merchantId: string) => void;
  /** Told of a merchant whose message broke a batch. */
  readonly suspect: (merchantId: string) => void;
  /** Ends waiting for the database. */
  readonly givenUp: () => boolean;
  /** How many merchants stay in memory. */
  readonly activeMerchants?: number;
}

export class BatchProcessor {
  readonly active: ActiveMerchants;
  readonly #options: BatchOptions;
  readonly #store: JournalStore;
  readonly #deciding: Deciding;
  readonly #recovering: Recovering;
  #settings: Settings | null = null;
  #batches = 0;
  #messages = 0;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#store = options.store;
    this.active = new ActiveMerchants(options.activeMerchants ?? ACTIVE_MERCHANTS);
    this.#deciding = {
      store: options.store,
      active: this.active,
      liquidity: options.liquidity,
      untilAnswered: (ask) => this.#untilAnswered(ask),
    };
    this.#recovering = {
      store: options.store,
      process: (work, attempt) => this.process(work, attempt),
      suspect: options.suspect,
      untilAnswered: (ask) => this.#untilAnswered(ask),
    };
  }

  /** Batches committed and messages answered so far. */
  get figures(): { readonly batches: number; readonly messages: number } {
    return { batches: this.#batches, messages: this.#messages };
  }

  /** Global settings as last read; read again when a write finds them changed. */
  async settings(): Promise<Settings> {
    return this.#settings ??= await this.#store.readSettings();
  }

  /**
   * Decides and writes a batch and answers its senders.
   *
   * @throws when the database is gone for good, or on a bug of the journal's own
   */
  async process(work: Work, attempt = 1): Promise<void> {
    if (work.size === 0) return;
    const settings = await this.#untilAnswered(() => this.settings());
    const slices = await decideBatch(this.#deciding, work, settings);
    const dirty = slices.some((slice) => slice.draft.dirty);
    const outcome = await (dirty ? this.#write(slices, settings) : this.#check(slices, settings));
    switch (outcome.kind) {
      case "durable":
        return await this.#finish(slices, outcome.misses, dirty, work, attempt);
      case "unknown":
        return await this.#resolve(slices, outcome, work, attempt);
      default:
        return await recover(this.#recovering, outcome, unsettled(work), attempt);
    }
  }

  /** Answers that change nothing still need to be decided on current state. */
  async #check(slices: readonly Slice[], settings: Settings): Promise<WriteOutcome> {
    const versions = slices.map(({ merchantId, draft }) => ({
      merchantId,
      version: draft.state.version,
    }));
    const misses = await this.#untilAnswered(() =>
      this.#store.checkVersions(settings.epoch, versions)
    );
    return { kind: "durable", misses };
  }

  async #write(slices: readonly Slice[], settings: Settings): Promise<WriteOutcome> {
    const commitId = v7();
    crashPoint("journal.before-write");
    try {
      const changes = slices.map((slice) => slice.draft.changes());
      const misses = await this.#store.writeBatch(commitId, settings.epoch, changes);
      crashPoint("journal.after-write");
      return { kind: "durable", misses };
    } catch (error) {
      // after any failure nothing that is cached is trusted: stale actors would refuse for ever
      for (const slice of slices) this.active.drop(slice.merchantId);
      if (this.#store.isSetback(error)) return { kind: "setback", error };
      if (this.#store.isTakenMeanwhile(error)) return { kind: "taken", error };
      if (!this.#store.isConnectionError(error)) return { kind: "poisoned", error };
      log.warn("the answer to a commit was lost: {error}", { error });
      return { kind: "unknown", commitId, error };
    }
  }

  /** Finds out what became of a commit; only what certainly did not happen is decided again. */
  async #resolve(
    slices: readonly Slice[],
    lost: { readonly commitId: string; readonly error: unknown },
    work: Work,
    attempt: number,
  ): Promise<void> {
    const merchantIds = slices.map((slice) => slice.merchantId);
    const survivors = await this.#untilAnswered(() =>
      this.#store.resolveCommit(lost.commitId, merchantIds)
    );
    const happened = slices.filter((slice) => survivors?.has(slice.merchantId) === true);
    for (const slice of happened) this.#reply(slice);
    this.#announce(happened);
    const left = [...work].filter(([merchantId]) => survivors?.has(merchantId) !== true);
    const again = this.#askedOf(new Map(left));
    if (attempt < TRIES) return await this.process(again, attempt + 1);
    // a write that takes its connection down every time is as good as refused
    await recover(this.#recovering, { kind: "poisoned", error: lost.error }, again, attempt);
  }

  /** After the commit: states are replaced, replies leave, what was missed is decided again. */
  async #finish(
    slices: readonly Slice[],
    misses: readonly SliceMiss[],
    raised: boolean,
    work: Work,
    attempt: number,
  ): Promise<void> {
    const missed = new Set(misses.map((miss) => miss.merchantId));
    const written = slices.filter((slice) => !missed.has(slice.merchantId));
    this.#batches++;
    for (const slice of written) {
      // a write raises the version of every slice in it, also of one that only refused
      const version = slice.draft.state.version + (raised ? 1 : 0);
      this.active.keep(slice.merchantId, slice.draft, version);
      this.#reply(slice);
    }
    this.#announce(written);
    await this.#setAside(written);
    if (missed.size === 0) return;
    this.#learn(misses);
    const again = this.#askedOf(
      new Map([...work].filter(([merchantId]) => missed.has(merchantId))),
    );
    if (attempt < TRIES) return await this.process(again, attempt + 1);
    comeBackLater(again);
  }

  /**
   * What is left to decide where somebody else may have written: the commands. What the inbox told
   * the other one may have consumed, so the inbox is read again.
   */
  #askedOf(work: Work): Work {
    const asked: Map<string, readonly Decidable[]> = new Map();
    for (const [merchantId, envelopes] of unsettled(work)) {
      const commands = envelopes.filter(({ kind }) => kind === "command");
      if (commands.length < envelopes.length) this.#options.wake(merchantId);
      if (commands.length > 0) asked.set(merchantId, commands);
    }
    return asked;
  }

  async #setAside(slices: readonly Slice[]): Promise<void> {
    for (const { envelope, reason } of slices.flatMap((slice) => slice.aside)) {
      await this.#untilAnswered(() => this.#store.quarantineInboxRow(envelope.message.key, reason));
    }
  }

  /** What a miss teaches, so that the next decision is made on it. */
  #learn(misses: readonly SliceMiss[]): void {
    for (const miss of misses) {
      switch (miss.reason) {
        case "version":
          this.active.drop(miss.merchantId);
          break;
        case "epoch":
          this.#settings = null;
          break;
        case "reference":
          this.active.learnReference(miss.merchantId, miss.referenceId, miss.withdrawalId);
          break;
        case "outgoing":
          // the payout's state is read again with the facts
          break;
        default: {
          const never: never = miss;
          return never;
        }
      }
    }
  }

  #reply(slice: Slice): void {
    for (const { envelope, outcome } of slice.messages) {
      this.#messages++;
      if (envelope.kind === "command") envelope.settle(outcome);
    }
  }

  #announce(slices: readonly Slice[]): void {
    const news = committed(slices);
    if (news !== null) this.#options.onCommitted(news);
    // what a commit tells another merchant (a reseller's share) is heard at once, not by the sweep
    for (const { draft } of slices) {
      if (!draft.dirty) continue;
      for (const { merchantId } of draft.changes().inbox) this.#options.wake(merchantId);
    }
  }

  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    return untilAnswered(this.#store, this.#options.givenUp, ask);
  }
}

type WriteOutcome =
  /** The batch is durable but for the misses. */
  | { readonly kind: "durable"; readonly misses: readonly SliceMiss[] }
  /** The connection was lost before the answer. */
  | { readonly kind: "unknown"; readonly commitId: string; readonly error: unknown }
  | RolledBack;
