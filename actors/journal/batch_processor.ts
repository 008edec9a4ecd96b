/**
 * The work on one batch: read what it speaks of, decide, write once, reply after
 * the commit; and what it does when the write misses some of it. A batch of which nothing was done is
 * `recover.ts`, one whose answer was lost `lost_commit.ts`.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { isTracing } from "../../log/traces.ts";
import { v7 } from "uuid";
import type { Settings } from "../../ledger/settings.ts";
import type { Miss } from "../../ledger/journal/write_batch.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import type { JournalContext } from "./context.ts";
import { committed, decideBatch, type MerchantBatch } from "./decide_batch.ts";
import { resolveLost } from "./lost_commit.ts";
import { traceBatch } from "./trace_batch.ts";
import { type Batch, type QueuedMessage, refuseOverloaded, unanswered } from "./queue.ts";
import { recover, type Recovering, type RolledBack, TRIES } from "./recover.ts";

export class BatchProcessor {
  readonly #context: JournalContext;
  readonly #recovering: Recovering;
  /** Begin of the newest batch, Unix milliseconds, for its span; batches are one at a time. */
  #begun = 0;

  constructor(context: JournalContext) {
    this.#context = context;
    this.#recovering = { context, process: (batch, attempt) => this.process(batch, attempt) };
  }

  /**
   * Decides and writes a batch and answers its senders.
   *
   * @throws when the database is gone for good, the settings cannot be read, or on a bug of the
   *   journal's own
   */
  async process(asked: Batch, attempt = 1): Promise<void> {
    const batch = this.#withoutPaused(asked);
    this.#context.audit.refuse(batch);
    if (batch.size === 0) return;
    this.#begun = Date.now();
    this.#context.clearDropped();
    const settings = await this.#context.retry(() => this.#context.settings());
    const parts = await this.#attempt(
      [...batch.keys()],
      () => decideBatch(this.#context, batch, settings),
    );
    if ("kind" in parts) {
      return await recover(this.#recovering, parts, unanswered(batch), attempt);
    }
    // each time it answers a sender at least, so that it comes to an end
    const held = await this.#attempt(merchantsOf(parts), () => this.#refuseHeld(parts));
    if (typeof held !== "boolean") {
      return await recover(this.#recovering, held, unanswered(batch), attempt);
    }
    if (held) return await this.process(unanswered(batch), attempt);
    const isDirty = parts.some(({ unit }) => unit.isDirty);
    const outcome = await this.#attempt(
      merchantsOf(parts),
      () => isDirty ? this.#write(parts, settings) : this.#check(parts, settings),
    );
    switch (outcome.kind) {
      case "durable":
        return await this.#finish(parts, outcome, batch, attempt);
      case "unknown":
        return await this.#resolve(parts, outcome, batch, attempt);
      default:
        return await recover(this.#recovering, outcome, unanswered(batch), attempt);
    }
  }

  /**
   * Refuses refunds of payouts, queued or waiting for approval, that this node's scan may yet find in blocks. The write
   * compares what the database knows to stop signing, and no write of another node knows what this one waits for.
   *
   * @returns true where one was refused, so that the others are decided again
   */
  async #refuseHeld(parts: readonly MerchantBatch[]): Promise<boolean> {
    const refunding = parts.flatMap(({ messages }) => messages)
      .filter(({ queued, refunds }) => queued.kind === "command" && refunds.length > 0);
    if (refunding.length === 0) return false;
    const held = new Set<Network>();
    const { store, holdsRefunds } = this.#context;
    for (const network of new Set(refunding.flatMap(({ refunds }) => refunds))) {
      // over the journal's own connections: others may be busy with what is slow
      const readBatches = () => this.#context.retry(() => store.readSignedBatches(network));
      if (await holdsRefunds(network, readBatches)) held.add(network);
    }
    const refused = refunding.filter(({ refunds }) => refunds.some((one) => held.has(one)));
    for (const { queued } of refused) {
      if (queued.kind === "command") queued.answer({ kind: "held" });
    }
    return refused.length > 0;
  }

  /** Messages of merchants that are paused by now wait in their mailboxes. */
  #withoutPaused(asked: Batch): Batch {
    const batch = new Map(asked);
    for (const [merchantId, messages] of asked) {
      if (!this.#context.paused.has(merchantId)) continue;
      batch.delete(merchantId);
      this.#context.giveBack(merchantId, messages);
    }
    return batch;
  }

  /** Asks the database for something; the cause where that fails, as nothing was done then. */
  async #attempt<T>(
    merchantIds: readonly string[],
    work: () => Promise<T>,
  ): Promise<T | RolledBack> {
    const since = performance.now();
    try {
      return await work();
    } catch (error) {
      return this.#blame(merchantIds, error, performance.now() - since);
    }
  }

  /** After any failure nothing that is cached is trusted: stale actors would refuse for ever. */
  #blame(merchantIds: readonly string[], error: unknown, costMs: number): RolledBack {
    const { store, active, audit, isStopping } = this.#context;
    for (const merchantId of merchantIds) active.drop(merchantId);
    if (store.isConnectionError(error) && isStopping) throw error;
    const audited = store.auditedRefusal(error);
    if (audited === "locked") audit.begin();
    if (audited !== null) return { kind: "audited", error, why: audited };
    if (store.isLocked(error)) return { kind: "locked", error, costMs, merchantIds };
    if (store.isTransient(error)) return { kind: "transient", error, costMs };
    if (store.isTakenMeanwhile(error)) return { kind: "taken", error };
    return { kind: "poisoned", error };
  }

  /** Answers that change nothing still need to be decided on current state. */
  async #check(parts: readonly MerchantBatch[], { epoch }: Settings): Promise<Durable> {
    const accounts = parts.map(({ unit }) => unit.changes().account);
    const { store } = this.#context;
    const misses = await this.#context.retry(() => store.checkVersions(epoch, accounts));
    return { kind: "durable", commitId: null, misses };
  }

  async #write(parts: readonly MerchantBatch[], { epoch }: Settings): Promise<Durable | Unknown> {
    const commitId = v7();
    const { store } = this.#context;
    crashPoint("journal.before-write");
    try {
      const changes = parts.map(({ unit }) => unit.changes());
      const misses = await store.writeBatch(commitId, epoch, changes);
      crashPoint("journal.after-write");
      return { kind: "durable", commitId, misses };
    } catch (error) {
      if (!store.isConnectionError(error)) throw error;
      this.#context.dropCaches();
      logEvent("journal.answer_lost", { error });
      return { kind: "unknown", commitId, error };
    }
  }

  /** Finds out what became of a commit; only what certainly did not happen is decided again. */
  async #resolve(
    parts: readonly MerchantBatch[],
    lost: Unknown,
    batch: Batch,
    attempt: number,
  ): Promise<void> {
    const context = this.#context;
    const left = await resolveLost(context, {
      commitId: lost.commitId,
      merchantIds: merchantsOf(parts),
      onHappened: (happened) => {
        const done = parts.filter(({ merchantId }) => happened.has(merchantId));
        for (const part of done) this.#reply(part);
        this.#announce(done, lost.commitId);
      },
      onResolvedLate: (merchantId, hasHappened) => {
        context.active.drop(merchantId);
        if (!hasHappened) context.giveBack(merchantId, unansweredOf(batch, merchantId));
        context.resume(merchantId);
      },
    });
    const again = this.#askedOf(new Map([...batch].filter(([id]) => !left.has(id))));
    if (attempt < TRIES) return await this.process(again, attempt + 1);
    // a write that takes its connection down every time is as good as refused
    await recover(this.#recovering, { kind: "poisoned", error: lost.error }, again, attempt);
  }

  /** After the commit: states are replaced, replies leave, what was missed is decided again. */
  async #finish(
    parts: readonly MerchantBatch[],
    { commitId, misses }: Durable,
    batch: Batch,
    attempt: number,
  ): Promise<void> {
    const missed = new Set(misses.map((miss) => miss.merchantId));
    const written = parts.filter(({ merchantId }) => !missed.has(merchantId));
    const { counts, active, paused, doubts } = this.#context;
    counts.batches++;
    for (const part of written) {
      const { merchantId, unit: { state } } = part;
      // a write raises the version of every merchant in it, also of one that only refused
      active.put(
        merchantId,
        commitId === null ? state : { ...state, version: state.version + 1, lastCommit: commitId },
      );
      paused.resume(merchantId);
      doubts.pass(merchantId);
      this.#reply(part);
    }
    this.#announce(written, commitId);
    await this.#context.quarantineRows(written.flatMap(({ quarantined }) => quarantined));
    if (missed.size > 0) await this.#decideMissed(parts, misses, batch, attempt);
  }

  /** Decides again what was missed; who is locked waits in its mailbox, and keeps no other. */
  async #decideMissed(
    parts: readonly MerchantBatch[],
    misses: readonly Miss[],
    batch: Batch,
    attempt: number,
  ): Promise<void> {
    this.#dropStale(misses);
    const idsOf = (reason: Miss["reason"]) =>
      new Set(misses.filter((miss) => miss.reason === reason).map((miss) => miss.merchantId));
    const [stopped, locked] = [idsOf("stopped"), idsOf("locked")];
    await this.#refuseRefunds(parts.filter(({ merchantId }) => stopped.has(merchantId)));
    const left = new Map<string, readonly QueuedMessage[]>();
    for (const { merchantId } of misses) {
      if (!locked.has(merchantId)) left.set(merchantId, batch.get(merchantId) ?? []);
      else this.#context.pause(merchantId, unansweredOf(batch, merchantId), 0);
    }
    const again = this.#askedOf(left);
    if (attempt < TRIES) await this.process(again, attempt + 1);
    else refuseOverloaded(again);
  }

  /**
   * Refunds that wait until signing goes on are refused, so that what their merchants asked besides is
   * decided again with the rest. Which networks are stopped is but a hint: the write compares it.
   */
  async #refuseRefunds(parts: readonly MerchantBatch[]): Promise<void> {
    const refusable = parts.flatMap(({ messages }) => messages)
      .filter(({ refunds }) => refunds.length > 0);
    if (refusable.length === 0) return;
    const networks = [...new Set(refusable.flatMap(({ refunds }) => refunds))];
    const stopped = await this.#stoppedOf(networks);
    for (const { queued, refunds } of refusable) {
      if (queued.kind !== "command" || !refunds.some((one) => stopped.includes(one))) continue;
      queued.answer({ kind: "held" });
    }
  }

  /** Those of some networks for which signing is stopped; all of them where that cannot be read. */
  async #stoppedOf(networks: readonly Network[]): Promise<readonly Network[]> {
    try {
      return await this.#context.retry(() => this.#context.store.readHaltedNetworks(networks));
    } catch (error) {
      if (this.#context.isStopping) throw error;
      logEvent("journal.stops_unread", { error });
      return networks;
    }
  }

  /**
   * The commands of a batch, which are decided again where another node may have written. Chain events
   * are read from the inbox again, as that node may have consumed them.
   */
  #askedOf(batch: Batch): Batch {
    const asked = new Map<string, readonly QueuedMessage[]>();
    for (const [merchantId, messages] of unanswered(batch)) {
      const commands = messages.filter(({ kind }) => kind === "command");
      if (commands.length < messages.length) this.#context.wake(merchantId);
      if (commands.length > 0) asked.set(merchantId, commands);
    }
    return asked;
  }

  /** Has the next decision made on what a miss shows to have changed; records are read again anyway. */
  #dropStale(misses: readonly Miss[]): void {
    for (const { merchantId, reason } of misses) {
      if (reason === "version" || reason === "locked") this.#context.active.drop(merchantId);
      if (reason === "epoch") this.#context.dropSettings();
      if (reason === "reference") this.#context.referencesFirst.add(merchantId);
    }
  }

  #reply({ messages }: MerchantBatch): void {
    for (const { queued, outcome } of messages) {
      this.#context.counts.messages++;
      if (queued.kind === "command") queued.answer(outcome);
    }
  }

  #announce(parts: readonly MerchantBatch[], commitId: string | null): void {
    const news = committed(parts);
    if (news !== null) this.#context.onCommitted(news);
    // what a commit says to another merchant (a reseller's share) is read at once, not by the next poll
    for (const { unit } of parts) {
      if (!unit.isDirty) continue;
      for (const { merchantId } of unit.changes().once.inbox) this.#context.wake(merchantId);
    }
    if (commitId !== null && isTracing()) traceBatch(commitId, this.#begun, parts);
  }
}

/** The messages of one merchant whose senders still wait. */
function unansweredOf(batch: Batch, merchantId: string): readonly QueuedMessage[] {
  const messages = batch.get(merchantId) ?? [];
  return unanswered(new Map([[merchantId, messages]])).get(merchantId) ?? [];
}

function merchantsOf(parts: readonly MerchantBatch[]): readonly string[] {
  return parts.map(({ merchantId }) => merchantId);
}

/** The batch is durable but for the misses. */
interface Durable {
  readonly kind: "durable";
  /** Null where there was nothing to write. */
  readonly commitId: string | null;
  readonly misses: readonly Miss[];
}

/** The connection was lost before the answer. */
interface Unknown {
  readonly kind: "unknown";
  readonly commitId: string;
  readonly error: unknown;
}
