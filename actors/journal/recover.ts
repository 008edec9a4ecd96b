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

import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { AuditedRefusal } from "../../ledger/journal/write_error.ts";
import type { Batch } from "./decide_batch.ts";
import { apartFromAudited, type DoubtfulMerchants } from "./merchant_standing.ts";
import type { QueuedMessage } from "./queue.ts";

const log = getLogger(["engine", "journal"]);

/**
 * Decisions on a merchant's messages before its senders are refused as overloaded: an account that
 * another node has changed, a lost connection and a key that is taken may come one by one.
 */
export const TRIES = 4;
/** Pause after the server refused a batch for reasons of its own. */
const TRANSIENT_MS = 50;
/** Into how many parts a batch is split to find what breaks it: a few tries for hundreds of merchants. */
const PARTS = 8;
/** The most messages of one merchant that are tried apart in a row; others wait for that long. */
const APART_LIMIT = 32;

/** Why nothing of a batch was done. */
export type RolledBack =
  /** Only audited commands can be to blame. */
  | { readonly kind: "audited"; readonly error: unknown; readonly why: AuditedRefusal }
  /** A unique key that it claims was taken by another. */
  | { readonly kind: "taken"; readonly error: unknown }
  /**
   * A row of one of its merchants is locked, or a statement took too long; with what the try cost,
   * and all merchants of it, also those whose senders have left.
   */
  | {
    readonly kind: "locked";
    readonly error: unknown;
    readonly costMs: number;
    readonly merchantIds: readonly string[];
  }
  /** For reasons of the server's own; with what the try cost. */
  | { readonly kind: "transient"; readonly error: unknown; readonly costMs: number }
  /** A bug in one of its messages, or one that takes its connection down every time. */
  | { readonly kind: "poisoned"; readonly error: unknown };

export interface Recovering {
  readonly store: Pick<JournalStore, "isConnectionError">;
  /** Decides and writes a batch; the attempt counts how often it was decided, this time included. */
  readonly process: (batch: Batch, attempt: number) => Promise<void>;
  readonly doubts: Pick<DoubtfulMerchants, "failed" | "add" | "isToBlame" | "isStalled">;
  /** A merchant's message broke a batch. */
  readonly suspect: (merchantId: string) => void;
  /** Gives messages back to their merchant's mailbox, which is paused for as long as others were kept. */
  readonly pause: (merchantId: string, messages: readonly QueuedMessage[], costMs: number) => void;
  /** Gives messages back to their merchant's mailbox, for its next turn. */
  readonly giveBack: (merchantId: string, messages: readonly QueuedMessage[]) => void;
  readonly quarantine: (queued: QueuedMessage, reason: string) => Promise<void>;
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
  switch (why.kind) {
    case "audited":
      return await retryAuditedAlone(recovering, batch, why, attempt);
    case "taken":
      return await retryClaimsAlone(recovering, batch, why.error, attempt);
    case "locked":
      return recovering.doubts.failed(why.costMs)
        ? await pauseSlow(recovering, batch, why, attempt)
        : await pauseLocked(recovering, batch, why);
    case "transient":
      recovering.doubts.failed(why.costMs);
      return await retryTransient(recovering, batch, why.error, attempt);
    case "poisoned":
      return await bisect(recovering, batch, why.error);
    default: {
      const never: never = why;
      return never;
    }
  }
}

/** The messages whose senders still wait; they may be decided again. */
export function unanswered(batch: Batch): Batch {
  const left = new Map<string, readonly QueuedMessage[]>();
  for (const [merchantId, messages] of batch) {
    const open = messages.filter((queued) => queued.kind === "event" || !queued.isAnswered);
    // a sender whose time ends from here on is answered that nothing happened, which is so
    for (const queued of open) if (queued.kind === "command") queued.decided = false;
    if (open.length > 0) left.set(merchantId, open);
  }
  return left;
}

/** Refuses commands: nothing happened of them, and none is to blame. */
export function refuseOverloaded(batch: Batch): void {
  for (const queued of [...batch.values()].flat()) {
    // an event's row is still there, and found again by the next poll
    if (queued.kind === "command") queued.answer({ kind: "overloaded" });
  }
}

/**
 * A rule of approvals refused the batch, or what all audited commands need is locked: everything else
 * is decided without them. The command that the rule refuses is found by deciding each alone.
 */
async function retryAuditedAlone(
  recovering: Recovering,
  batch: Batch,
  { error, why }: RolledBack & { readonly kind: "audited" },
  attempt: number,
): Promise<void> {
  const { audited, others } = apartFromAudited(batch);
  const ruled = [...audited].flatMap(([merchantId, messages]) =>
    messages.map((queued) => ({ merchantId, queued }))
  );
  if (ruled.length === 0) {
    // the senders of the audited ones have left meanwhile; if there were none, it is a bug
    if (attempt < TRIES) return await processAny(recovering, others, attempt + 1);
    return await bisect(recovering, others, error);
  }
  if (why === "locked") {
    log.warn("{count} audited commands are refused, as a row that all need is locked: {error}", {
      count: ruled.length,
      error,
    });
    refuseOverloaded(audited);
    return await processAny(recovering, others, 1);
  }
  const [first] = ruled;
  if (ruled.length === 1 && others.size === 0 && first?.queued.kind === "command") {
    const isSecondMissing = why === "second_administrator";
    const refusal = { code: "same_administrator", isSecondMissing } as const;
    return first.queued.answer({ kind: "refused", refusal });
  }
  await processAny(recovering, others, 1);
  for (const { merchantId, queued } of ruled.slice(0, APART_LIMIT)) {
    await recovering.process(new Map([[merchantId, [queued]]]), 1);
  }
  for (const { merchantId, queued } of ruled.slice(APART_LIMIT)) {
    recovering.giveBack(merchantId, [queued]);
  }
}

async function processAny(recovering: Recovering, batch: Batch, attempt: number): Promise<void> {
  if (batch.size > 0) await recovering.process(batch, attempt);
}

/**
 * Two messages claimed one unique key at once, and neither is to blame: decided one after the other,
 * the second is refused. A reference is one merchant's own, so that withdrawals are decided together
 * again: there may be hundreds of them.
 */
async function retryClaimsAlone(
  recovering: Recovering,
  batch: Batch,
  error: unknown,
  attempt: number,
): Promise<void> {
  const isClaiming = ([, messages]: readonly [string, readonly QueuedMessage[]]) =>
    messages.some(claimsOfAll);
  const claiming = new Map([...batch].filter(isClaiming));
  const others = new Map([...batch].filter((one) => !isClaiming(one)));
  const wantsReference = [...batch.values()].flat().some(claimsReference);
  // a message that claims what it is not known to claim: a bug, and together they would fail for ever
  if (claiming.size === 0 && (!wantsReference || attempt >= TRIES)) {
    return await bisect(recovering, batch, error);
  }
  log.info("a unique key was taken meanwhile, deciding {count} merchants again", {
    count: batch.size,
  });
  if (claiming.size === 0) return await recovering.process(batch, attempt + 1);
  // these lost nothing but their company, so their tries begin anew
  await recovering.process(others, 1);
  if (attempt >= TRIES) return refuseOverloaded(claiming);
  for (const one of claiming) await recovering.process(new Map([one]), attempt + 1);
}

/** True for a message that may claim a key unique among all merchants: see `CLAIMED_KEYS` of the write's errors. */
function claimsOfAll({ message }: QueuedMessage): boolean {
  switch (message.type) {
    case "decide-deposit":
    case "ingest-withdrawal":
    case "settle-withdrawal":
    case "book-payout":
      return true;
    default:
      return false;
  }
}

function claimsReference({ message }: QueuedMessage): boolean {
  return message.type === "reserve" && message.referenceId !== null;
}

/**
 * One merchant's row is locked: the others are decided without it, and it is paused with its messages
 * in its mailbox. Nothing is quarantined, and no sender is refused before its time is over: the lock
 * may be another node's, and gone in a moment.
 */
async function pauseLocked(
  recovering: Recovering,
  batch: Batch,
  { error, costMs }: RolledBack & { readonly kind: "locked" },
): Promise<void> {
  log.warn(
    "{count} merchants wait, as one of their rows is locked or a statement is slow: {error}",
    {
      count: batch.size,
      error,
    },
  );
  if (batch.size > 1) {
    for (const part of partsOf(batch)) await recovering.process(part, 1);
    return;
  }
  for (const [merchantId, messages] of batch) {
    // its next try is not to cost others their batch
    recovering.suspect(merchantId);
    recovering.pause(merchantId, messages, costMs);
  }
}

/**
 * A statement took as long as it may, and perhaps one merchant is to blame: the others are decided
 * in parts, and those of a part that is slow again each in a turn of its own, so that the rest waits
 * for two such statements and not for all that it takes to find one. What fails is known by the
 * batch's merchants: the senders' time may be over long before.
 */
async function pauseSlow(
  recovering: Recovering,
  batch: Batch,
  { error, costMs, merchantIds }: RolledBack & { readonly kind: "locked" },
  attempt: number,
): Promise<void> {
  const { doubts } = recovering;
  log.warn("a statement for {count} merchants took {ms} ms, trying them apart: {error}", {
    count: merchantIds.length,
    ms: Math.round(costMs),
    error,
  });
  const [alone] = merchantIds;
  if (merchantIds.length === 1 && alone !== undefined && doubts.isToBlame(alone)) {
    // its next try is not to cost others their batch
    recovering.suspect(alone);
    recovering.pause(alone, batch.get(alone) ?? [], costMs);
    return;
  }
  doubts.add(merchantIds);
  const parts = attempt === 1 && merchantIds.length > 1 ? partsOf(batch) : [batch];
  for (const part of parts) {
    if (parts.length > 1 && !doubts.isStalled) await recovering.process(part, attempt + 1);
    else for (const [id, messages] of part) recovering.giveBack(id, messages);
  }
}

/**
 * A batch that the server refused for reasons of its own is tried again, then in ever smaller parts, and
 * refused in the end; nothing is quarantined.
 */
async function retryTransient(
  recovering: Recovering,
  batch: Batch,
  error: unknown,
  attempt: number,
): Promise<void> {
  log.warn("the database refused a batch of {count} merchants, trying again: {error}", {
    count: batch.size,
    error,
  });
  if (attempt === 1 || (attempt < TRIES && batch.size === 1)) {
    await new Promise((resolve) => setTimeout(resolve, TRANSIENT_MS));
    return await recovering.process(batch, attempt + 1);
  }
  if (batch.size === 1) return refuseOverloaded(batch);
  for (const part of partsOf(batch)) {
    // a server that is slow to refuse would keep all merchants for as long as there are parts
    if (recovering.doubts.isStalled) refuseOverloaded(part);
    else await recovering.process(part, TRIES);
  }
}

/**
 * Finds the message that breaks a batch: merchants in ever smaller parts, then the messages of one.
 * What still fails alone is quarantined with an alarm; everything else goes on.
 */
async function bisect(recovering: Recovering, batch: Batch, error: unknown): Promise<void> {
  if (batch.size > 1) {
    log.error("a batch of {count} merchants failed, trying them apart: {error}", {
      count: batch.size,
      error,
    });
    for (const part of partsOf(batch)) await recovering.process(part, 1);
    return;
  }
  for (const [merchantId, messages] of batch) {
    recovering.suspect(merchantId);
    const [alone] = messages;
    if (messages.length === 1 && alone !== undefined) {
      return await quarantineAlone(recovering, merchantId, alone, error);
    }
    recovering.giveBack(merchantId, messages.slice(APART_LIMIT));
    for (const part of inParts(messages.slice(0, APART_LIMIT))) {
      await recovering.process(new Map([[merchantId, part]]), 1);
    }
  }
}

/** The end of a message that fails even alone. */
async function quarantineAlone(
  { store, quarantine }: Recovering,
  merchantId: string,
  queued: QueuedMessage,
  error: unknown,
): Promise<void> {
  log.error("a message cannot be carried out and is quarantined: {type} of {merchantId}: {error}", {
    type: queued.message.type,
    merchantId,
    error,
  });
  // a database that keeps going away is not the row's fault: a later wake-up tries again
  if (queued.kind === "event" && store.isConnectionError(error)) return;
  await quarantine(queued, `bug: ${error}`);
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
