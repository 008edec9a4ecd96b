/**
 * What the journal does with one batch: read what it speaks of, decide, write once, reply after
 * the commit; and what it does when the write misses some of it or loses its answer. A batch of
 * which nothing was done is `recover.ts`.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { v7 } from "uuid";
import type { SliceMiss } from "../../ledger/journal/batch.ts";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { ActiveMerchants } from "./active_merchants.ts";
import { AuditRest } from "./audited.ts";
import { type Committed, committed } from "./committed.ts";
import { decideBatch, type Deciding, type Work } from "./decide_batch.ts";
import type { Decidable } from "./envelope.ts";
import type { DoubtfulMerchants } from "./doubtful_merchants.ts";
import type { Liquidity } from "../merchant/liquidity.ts";
import { untilAnswered } from "./patience.ts";
import { quarantine } from "./quarantine.ts";
import {
  comeBackLater,
  recover,
  type Recovering,
  type RolledBack,
  TRIES,
  unsettled,
} from "./recover.ts";
import { resolveApart, type Resolved, resolveOnce } from "./resolve_lost.ts";
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
  /** Gives messages back to their merchant's mailbox, for its next turn. */
  readonly giveBack: (merchantId: string, envelopes: readonly Decidable[]) => void;
  /** The same, and has the merchant rest; the longer, the longer others were kept (milliseconds). */
  readonly hold: (merchantId: string, envelopes: readonly Decidable[], costMs: number) => void;
  /** Has nothing of a merchant taken up until `release`. */
  readonly freeze: (merchantId: string) => void;
  readonly release: (merchantId: string) => void;
  readonly isHeld: (merchantId: string) => boolean;
  readonly doubts: DoubtfulMerchants;
  /** Ends waiting for the database. */
  readonly givenUp: () => boolean;
  /** How many merchants stay in memory. */
  readonly activeMerchants?: number;
}

export class BatchProcessor {
  readonly active: ActiveMerchants;
  readonly audit = new AuditRest();
  readonly #options: BatchOptions;
  readonly #store: JournalStore;
  readonly #deciding: Deciding;
  readonly #recovering: Recovering;
  #settings: Settings | null = null;
  /** Raised when what was read before is no longer trusted. */
  #generation = 0;
  #cleared = 0;
  #batches = 0;
  #messages = 0;
  #quarantined = 0;

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
      doubts: options.doubts,
      suspect: options.suspect,
      hold: options.hold,
      giveBack: options.giveBack,
      quarantine: (envelope, reason) => this.#quarantine(envelope, reason),
    };
  }

  /** So far: batches committed, messages answered, messages set aside. */
  get figures(): { readonly batches: number; readonly messages: number; readonly aside: number } {
    return { batches: this.#batches, messages: this.#messages, aside: this.#quarantined };
  }

  /** Global settings as last read; read again when a write finds them changed. */
  async settings(): Promise<Settings> {
    if (this.#settings !== null) return this.#settings;
    const generation = this.#generation;
    const settings = await this.#store.readSettings();
    // what was asked for before caches were dropped may be the answer of a server that is gone
    if (generation === this.#generation) this.#settings = settings;
    return settings;
  }

  /**
   * Forgets what was read: accounts, references and settings. Safe at any moment: what a batch under
   * way has in hand is compared by its write, and memory is emptied before the next one is decided.
   */
  dropCaches(): void {
    this.#generation++;
    this.#settings = null;
  }

  /**
   * Decides and writes a batch and answers its senders.
   *
   * @throws when the database is gone for good, the settings cannot be read, or on a bug of the
   *   journal's own
   */
  async process(asked: Work, attempt = 1): Promise<void> {
    const work = this.#withoutHeld(asked);
    this.audit.refuse(work);
    if (work.size === 0) return;
    if (this.#cleared !== this.#generation) {
      this.#cleared = this.#generation;
      this.active.clear();
    }
    const settings = await this.#untilAnswered(() => this.settings());
    const decided = await this.#decide(work, settings);
    if (decided.kind !== "decided") {
      return await recover(this.#recovering, decided, unsettled(work), attempt);
    }
    const { slices } = decided;
    const dirty = slices.some((slice) => slice.draft.dirty);
    const outcome = await (dirty ? this.#write(slices, settings) : this.#check(slices, settings));
    switch (outcome.kind) {
      case "durable":
        return await this.#finish(slices, outcome, work, attempt);
      case "unknown":
        return await this.#resolve(slices, outcome, work, attempt);
      default:
        return await recover(this.#recovering, outcome, unsettled(work), attempt);
    }
  }

  /** Messages of merchants that are held by now wait in their mailboxes. */
  #withoutHeld(asked: Work): Work {
    const work = new Map(asked);
    for (const [merchantId, envelopes] of asked) {
      if (!this.#options.isHeld(merchantId)) continue;
      work.delete(merchantId);
      this.#options.giveBack(merchantId, envelopes);
    }
    return work;
  }

  async #decide(work: Work, settings: Settings): Promise<Decided | RolledBack> {
    const since = performance.now();
    try {
      return { kind: "decided", slices: await decideBatch(this.#deciding, work, settings) };
    } catch (error) {
      return this.#blame([...work.keys()], error, since);
    }
  }

  /**
   * Why nothing of a batch was done. After any failure nothing that is cached is trusted: stale
   * actors would refuse for ever.
   *
   * @param since when the statement that failed was sent, monotonic milliseconds
   */
  #blame(merchantIds: readonly string[], error: unknown, since: number): RolledBack {
    const costMs = performance.now() - since;
    for (const merchantId of merchantIds) this.active.drop(merchantId);
    if (this.#store.isConnectionError(error) && this.#options.givenUp()) throw error;
    const audited = this.#store.auditedRefusal(error);
    if (audited === "held") this.audit.begin();
    if (audited !== null) return { kind: "audited", error, why: audited };
    if (this.#store.isHeld(error)) return { kind: "held", error, costMs, merchantIds };
    if (this.#store.isSetback(error)) return { kind: "setback", error, costMs };
    if (this.#store.isTakenMeanwhile(error)) return { kind: "taken", error };
    return { kind: "poisoned", error };
  }

  /** Answers that change nothing still need to be decided on current state. */
  async #check(slices: readonly Slice[], settings: Settings): Promise<WriteOutcome> {
    const since = performance.now();
    const decidedOn = slices.map(({ draft }) => draft.changes().slice);
    try {
      const misses = await this.#untilAnswered(() =>
        this.#store.checkVersions(settings.epoch, decidedOn)
      );
      return { kind: "durable", commitId: null, misses };
    } catch (error) {
      return this.#blame(merchantsOf(slices), error, since);
    }
  }

  async #write(slices: readonly Slice[], settings: Settings): Promise<WriteOutcome> {
    const since = performance.now();
    const commitId = v7();
    crashPoint("journal.before-write");
    try {
      const changes = slices.map((slice) => slice.draft.changes());
      const misses = await this.#store.writeBatch(commitId, settings.epoch, changes);
      crashPoint("journal.after-write");
      return { kind: "durable", commitId, misses };
    } catch (error) {
      if (!this.#store.isConnectionError(error)) {
        return this.#blame(merchantsOf(slices), error, since);
      }
      this.dropCaches();
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
    const resolved = await this.#resolveNow(lost.commitId, merchantsOf(slices));
    const happened = slices.filter(({ merchantId }) => resolved.happened.has(merchantId));
    for (const slice of happened) this.#reply(slice);
    this.#announce(happened);
    const waiting = slices.filter(({ merchantId }) => resolved.waiting.has(merchantId));
    if (waiting.length > 0) this.#resolveLater(lost.commitId, waiting, work);
    const left = [...work].filter(([merchantId]) =>
      !resolved.happened.has(merchantId) && !resolved.waiting.has(merchantId)
    );
    const again = this.#askedOf(new Map(left));
    if (attempt < TRIES) return await this.process(again, attempt + 1);
    // a write that takes its connection down every time is as good as refused
    await recover(this.#recovering, { kind: "poisoned", error: lost.error }, again, attempt);
  }

  async #resolveNow(commitId: string, merchantIds: readonly string[]): Promise<Resolved> {
    try {
      return await this.#untilAnswered(() => resolveOnce(this.#store, commitId, merchantIds));
    } catch (error) {
      if (this.#options.givenUp()) throw error;
      log.error("it cannot be found out now what became of a commit: {error}", { error });
      return { happened: new Set(), waiting: new Set(merchantIds) };
    }
  }

  /** The merchants are held, and nobody else waits for what is found out. */
  #resolveLater(commitId: string, slices: readonly Slice[], work: Work): void {
    const { freeze, release, giveBack, givenUp } = this.#options;
    const sliceOf = new Map(slices.map((slice) => [slice.merchantId, slice]));
    for (const merchantId of sliceOf.keys()) freeze(merchantId);
    // nothing in it throws: an error of the database is asked again, and telling only moves messages
    void resolveApart(this.#store, commitId, sliceOf.keys(), givenUp, (merchantId, happened) => {
      this.active.drop(merchantId);
      const slice = sliceOf.get(merchantId);
      if (happened && slice !== undefined) {
        this.#reply(slice);
        this.#announce([slice]);
      } else {
        const left = unsettled(new Map([[merchantId, work.get(merchantId) ?? []]]));
        giveBack(merchantId, left.get(merchantId) ?? []);
      }
      release(merchantId);
    });
  }

  /** After the commit: states are replaced, replies leave, what was missed is decided again. */
  async #finish(
    slices: readonly Slice[],
    { commitId, misses }: Durable,
    work: Work,
    attempt: number,
  ): Promise<void> {
    const missed = new Set(misses.map((miss) => miss.merchantId));
    const written = slices.filter((slice) => !missed.has(slice.merchantId));
    this.#batches++;
    for (const slice of written) {
      this.active.keep(slice.merchantId, slice.draft, commitId);
      this.#options.release(slice.merchantId);
      this.#options.doubts.pass(slice.merchantId);
      this.#reply(slice);
    }
    this.#announce(written);
    for (const { envelope, reason } of written.flatMap((slice) => slice.aside)) {
      await this.#quarantine(envelope, reason);
    }
    if (missed.size === 0) return;
    this.#learn(misses);
    const stopped = new Set(
      misses.filter(({ reason }) => reason === "stopped").map(({ merchantId }) => merchantId),
    );
    await this.#refuseRefunds(slices.filter(({ merchantId }) => stopped.has(merchantId)));
    for (const { merchantId, reason } of misses) {
      if (reason !== "locked") continue;
      // whose turn it was waits: the others are not kept by a row that another transaction holds
      missed.delete(merchantId);
      const left = unsettled(new Map([[merchantId, work.get(merchantId) ?? []]]));
      this.#options.hold(merchantId, left.get(merchantId) ?? [], 0);
    }
    const again = this.#askedOf(
      new Map([...work].filter(([merchantId]) => missed.has(merchantId))),
    );
    if (attempt < TRIES) await this.process(again, attempt + 1);
    else comeBackLater(again);
  }

  /**
   * Refunds that wait until signing goes on are sent away, so that what their merchants asked besides is
   * decided again with the rest. Which networks are stopped is but a hint: the write compares it.
   */
  async #refuseRefunds(slices: readonly Slice[]): Promise<void> {
    const refusable = slices.flatMap(({ messages }) => messages)
      .filter(({ refunds }) => refunds.length > 0);
    if (refusable.length === 0) return;
    const networks = [...new Set(refusable.flatMap(({ refunds }) => refunds))];
    const stopped = await this.#stoppedOf(networks);
    for (const { envelope, refunds } of refusable) {
      if (envelope.kind !== "command" || !refunds.some((one) => stopped.includes(one))) continue;
      envelope.settle({ kind: "overloaded" });
    }
  }

  /** Those of some networks for which signing is stopped; all of them where that cannot be told. */
  async #stoppedOf(networks: readonly Network[]): Promise<readonly Network[]> {
    try {
      return await this.#untilAnswered(() => this.#store.readStoppedNetworks(networks));
    } catch (error) {
      if (this.#options.givenUp()) throw error;
      log.error("it cannot be told where signing is stopped: {error}", { error });
      return networks;
    }
  }

  /**
   * What is left to decide where another node may have written: the commands. What the inbox told
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

  async #quarantine(envelope: Decidable, reason: string): Promise<void> {
    this.#quarantined++;
    if (envelope.kind === "command") return envelope.settle({ kind: "failed" });
    await quarantine(this.#store, envelope.message.key, reason);
  }

  /** What a miss teaches, so that the next decision is made on it. */
  #learn(misses: readonly SliceMiss[]): void {
    for (const miss of misses) {
      switch (miss.reason) {
        case "version":
        case "locked":
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
        case "stopped":
          // nothing that was decided on has changed
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
    return untilAnswered(this.#store, this.#options.givenUp, ask, () => this.dropCaches());
  }
}

function merchantsOf(slices: readonly Slice[]): readonly string[] {
  return slices.map(({ merchantId }) => merchantId);
}

interface Decided {
  readonly kind: "decided";
  readonly slices: readonly Slice[];
}

/** The batch is durable but for the misses. */
interface Durable {
  readonly kind: "durable";
  /** Null where there was nothing to write. */
  readonly commitId: string | null;
  readonly misses: readonly SliceMiss[];
}

type WriteOutcome =
  | Durable
  /** The connection was lost before the answer. */
  | { readonly kind: "unknown"; readonly commitId: string; readonly error: unknown }
  | RolledBack;
