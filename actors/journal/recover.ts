/**
 * The end of a batch that could not be read, decided or written. Nothing of it is written and
 * no sender was answered, so all of it may be decided anew. What differs is what is to blame:
 *
 * | What was said | To blame | What is done | In the end |
 * |---|---|---|---|
 * | refused by a rule of approvals | one audited command | audited ones one by one, the rest together | that command is refused |
 * | locked for all audited commands | a session left open | the rest together | audited commands are refused as overloaded |
 * | taken meanwhile | none: two claimed one unique key | those that claim one by one, the rest together | refused as overloaded |
 * | locked | a locked row | merchants in ever smaller parts | that merchant is paused, others are not |
 * | locked, and slow | a statement that takes too long | merchants in parts, then each in a turn of its own | that merchant is paused, others are not |
 * | transient | the server | once more, then in ever smaller parts | refused as overloaded |
 * | poisoned | one message: a bug | merchants, then messages, in ever smaller parts | quarantined, with an alarm |
 *
 * Dying anywhere in here loses nothing: a command is acknowledged only after its commit, and a
 * chain event's row stays in the inbox until it is consumed.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { AuditedRefusal } from "../../ledger/journal/write_error.ts";
import { delay } from "../../ledger/database/delay.ts";
import { isAudited } from "../merchant/decide/audit.ts";
import type { JournalContext } from "./context.ts";
import type { DoubtfulMerchants } from "./merchant_standing.ts";
import { type Batch, type QueuedMessage, refuseOverloaded } from "./queue.ts";

/**
 * Decisions on a merchant's messages before its senders are refused as overloaded: an account that
 * another node has changed, a lost connection and a key that is taken may come one by one.
 */
export const TRIES = 4;
/** Pause after the server refused a batch for reasons of its own. */
const TRANSIENT_MS = 50;
/** Count of parts into which a batch is split to find what breaks it: a few tries for hundreds of merchants. */
const PARTS = 8;
/** The most messages of one merchant that are tried apart in a row; others wait for that long. */
const APART_LIMIT = 32;

/** The cause for which nothing of a batch was done; see the table above. */
export type RolledBack =
  & { readonly error: unknown }
  & (
    | { readonly kind: "audited"; readonly why: AuditedRefusal }
    | { readonly kind: "taken" | "poisoned" }
    | {
      readonly kind: "locked";
      /** Milliseconds that the try took. */
      readonly costMs: number;
      /** All merchants of the batch, also those whose senders have left. */
      readonly merchantIds: readonly string[];
    }
    | { readonly kind: "transient"; readonly costMs: number }
  );

/** The means to recover a batch. */
export interface Recovering {
  readonly context: Pick<JournalContext, "suspect" | "pause" | "giveBack" | "quarantine"> & {
    readonly store: Pick<JournalStore, "isConnectionError">;
    readonly doubts: Pick<DoubtfulMerchants, "failed" | "add" | "isToBlame" | "isStalled">;
  };
  /** Decides and writes a batch; the attempt counts how often it was decided, this time included. */
  process(batch: Batch, attempt: number): Promise<void>;
}

/**
 * Brings a batch of which nothing was done to an end: when this returns, every sender has an answer
 * or its place in a mailbox, and every chain event is consumed, quarantined, or left in its row for a
 * later wake-up.
 *
 * @param batch what still waits for an answer, see {@linkcode unanswered}
 * @param attempt how often the batch has been decided
 * @throws when the database is gone for good, or on a bug of the journal's own
 */
export async function recover(
  recovering: Recovering,
  why: RolledBack,
  batch: Batch,
  attempt: number,
): Promise<void> {
  const { context, process } = recovering;
  const recovery = new Recovery(context, process, batch, why.error, attempt);
  switch (why.kind) {
    case "audited":
      return await recovery.retryAuditedAlone(why.why);
    case "taken":
      return await recovery.retryClaimsAlone();
    case "locked":
      return context.doubts.failed(why.costMs)
        ? await recovery.pauseSlow(why.merchantIds, why.costMs)
        : await recovery.pauseLocked(why.costMs);
    case "transient":
      context.doubts.failed(why.costMs);
      return await recovery.retryTransient();
    case "poisoned":
      return await recovery.bisect();
    default: {
      const never: never = why;
      return never;
    }
  }
}

class Recovery {
  constructor(
    readonly context: Recovering["context"],
    readonly process: Recovering["process"],
    readonly batch: Batch,
    readonly error: unknown,
    readonly attempt: number,
  ) {}

  /**
   * A rule of approvals refused the batch, or what all audited commands need is locked: everything else
   * is decided without them. The command that the rule refuses is found by deciding each alone.
   */
  async retryAuditedAlone(why: AuditedRefusal): Promise<void> {
    const audited = partOf(this.batch, ({ message }) => isAudited(message));
    const others = partOf(this.batch, ({ message }) => !isAudited(message));
    const ruled = [...audited].flatMap(([merchantId, messages]) =>
      messages.map((queued) => ({ merchantId, queued }))
    );
    if (ruled.length === 0) {
      // the senders of the audited ones have left meanwhile; if there were none, it is a bug
      if (this.attempt < TRIES) return await this.process(others, this.attempt + 1);
      return await this.bisect();
    }
    if (why === "locked") {
      logEvent("journal.audited_refused", { count: ruled.length, error: this.error });
      refuseOverloaded(audited);
      return await this.process(others, 1);
    }
    const [first] = ruled;
    if (ruled.length === 1 && others.size === 0 && first?.queued.kind === "command") {
      const isSecondMissing = why === "second_administrator";
      const refusal = { code: "same_administrator", isSecondMissing } as const;
      return first.queued.answer({ kind: "refused", refusal });
    }
    await this.process(others, 1);
    for (const { merchantId, queued } of ruled.slice(0, APART_LIMIT)) {
      await this.process(new Map([[merchantId, [queued]]]), 1);
    }
    for (const { merchantId, queued } of ruled.slice(APART_LIMIT)) {
      this.context.giveBack(merchantId, [queued]);
    }
  }

  /**
   * Two messages claimed one unique key at once, and neither is to blame: decided one after the other,
   * the second is refused. A reference is one merchant's own, so that withdrawals are decided together
   * again: there may be hundreds of them.
   */
  async retryClaimsAlone(): Promise<void> {
    const { batch } = this;
    const isClaiming = ([, messages]: readonly [string, readonly QueuedMessage[]]) =>
      messages.some(claimsOfAll);
    const claiming = new Map([...batch].filter(isClaiming));
    const others = new Map([...batch].filter((one) => !isClaiming(one)));
    const wantsReference = [...batch.values()].flat().some(claimsReference);
    // a message that claims what it is not known to claim: a bug, and together they would fail for ever
    if (claiming.size === 0 && (!wantsReference || this.attempt >= TRIES)) {
      return await this.bisect();
    }
    logEvent("journal.key_taken", {
      count: batch.size,
    });
    if (claiming.size === 0) return await this.process(batch, this.attempt + 1);
    // these lost nothing but their company, so their tries begin anew
    await this.process(others, 1);
    if (this.attempt >= TRIES) return refuseOverloaded(claiming);
    for (const one of claiming) await this.process(new Map([one]), this.attempt + 1);
  }

  /**
   * One merchant's row is locked: the others are decided without it, and it is paused with its messages
   * in its mailbox. Nothing is quarantined, and no sender is refused before its time is over: the lock
   * may be another node's, and gone in a moment.
   */
  async pauseLocked(costMs: number): Promise<void> {
    logEvent("journal.merchants_wait", { count: this.batch.size, error: this.error });
    if (this.batch.size > 1) return await this.#processParts();
    for (const [merchantId, messages] of this.batch) this.#pauseAlone(merchantId, messages, costMs);
  }

  /** Pauses a merchant whose next try is not to cost others their batch. */
  #pauseAlone(merchantId: string, messages: readonly QueuedMessage[], costMs: number): void {
    this.context.suspect(merchantId);
    this.context.pause(merchantId, messages, costMs);
  }

  /**
   * A statement took as long as it may, and perhaps one merchant is to blame: the others are decided
   * in parts, and those of a part that is slow again each in a turn of its own, so that the rest waits
   * for two such statements and not for all that it takes to find one. What fails is known by the
   * batch's merchants: the senders' time may be over long before.
   */
  async pauseSlow(merchantIds: readonly string[], costMs: number): Promise<void> {
    const { doubts } = this.context;
    logEvent("journal.statement_slow", {
      count: merchantIds.length,
      ms: Math.round(costMs),
      error: this.error,
    });
    const [alone] = merchantIds;
    if (merchantIds.length === 1 && alone !== undefined && doubts.isToBlame(alone)) {
      return this.#pauseAlone(alone, this.batch.get(alone) ?? [], costMs);
    }
    doubts.add(merchantIds);
    const isApart = this.attempt === 1 && merchantIds.length > 1;
    const parts = isApart ? partsOf(this.batch) : [this.batch];
    for (const part of parts) {
      if (parts.length > 1 && !doubts.isStalled) await this.process(part, this.attempt + 1);
      else for (const [id, messages] of part) this.context.giveBack(id, messages);
    }
  }

  /**
   * A batch that the server refused for reasons of its own is tried again, then in ever smaller parts, and
   * refused in the end; nothing is quarantined.
   */
  async retryTransient(): Promise<void> {
    const { batch, attempt } = this;
    logEvent("journal.batch_refused", {
      count: batch.size,
      error: this.error,
    });
    if (attempt === 1 || (attempt < TRIES && batch.size === 1)) {
      await delay(TRANSIENT_MS);
      return await this.process(batch, attempt + 1);
    }
    if (batch.size === 1) return refuseOverloaded(batch);
    for (const part of partsOf(batch)) {
      // a server that is slow to refuse would keep all merchants for as long as there are parts
      if (this.context.doubts.isStalled) refuseOverloaded(part);
      else await this.process(part, TRIES);
    }
  }

  /**
   * Finds the message that breaks a batch: merchants in ever smaller parts, then the messages of one.
   * A message that fails alone is quarantined with an alarm; the others are decided.
   */
  async bisect(): Promise<void> {
    if (this.batch.size > 1) {
      logEvent("journal.batch_split", {
        count: this.batch.size,
        error: this.error,
      });
      return await this.#processParts();
    }
    for (const [merchantId, messages] of this.batch) {
      this.context.suspect(merchantId);
      const [alone] = messages;
      if (messages.length === 1 && alone !== undefined) {
        return await this.#quarantine(merchantId, alone);
      }
      this.context.giveBack(merchantId, messages.slice(APART_LIMIT));
      for (const part of inParts(messages.slice(0, APART_LIMIT))) {
        await this.process(new Map([[merchantId, part]]), 1);
      }
    }
  }

  /** The end of a message that fails even alone. */
  async #quarantine(merchantId: string, queued: QueuedMessage): Promise<void> {
    const { error } = this;
    logEvent("journal.message_broken", { type: queued.message.type, merchantId, error });
    // a database that keeps going away is not the row's fault: a later wake-up tries again
    if (queued.kind === "event" && this.context.store.isConnectionError(error)) return;
    await this.context.quarantine(queued, `bug: ${error}`);
  }

  async #processParts(): Promise<void> {
    for (const part of partsOf(this.batch)) await this.process(part, 1);
  }
}

/** True for a message that may claim a key unique among all merchants: see `CLAIMED_KEYS` of the write's errors. */
function claimsOfAll({ message: { type } }: QueuedMessage): boolean {
  return type === "decide-deposit" || type === "ingest-withdrawal" ||
    type === "settle-withdrawal" || type === "book-payout";
}

function claimsReference({ message }: QueuedMessage): boolean {
  return message.type === "reserve" && message.referenceId !== null;
}

/** The messages of a batch that a test finds; merchants without any are left out. */
function partOf(batch: Batch, isIn: (queued: QueuedMessage) => boolean): Batch {
  const found = [...batch].map(([id, messages]) => [id, messages.filter(isIn)] as const);
  return new Map(found.filter(([, messages]) => messages.length > 0));
}

/** The merchants of a batch in parts, so that few fail with another. */
function partsOf(batch: Batch): readonly Batch[] {
  return inParts([...batch]).map((part) => new Map(part));
}

function inParts<T>(list: readonly T[]): readonly (readonly T[])[] {
  const size = Math.ceil(list.length / PARTS);
  return Array.from(
    { length: Math.ceil(list.length / size) },
    (_, n) => list.slice(n * size, (n + 1) * size),
  );
}
