/**
 * What becomes of a batch that could not be read, decided or written. Nothing of it is written and
 * nobody was answered, so all of it may be decided anew. What differs is who is to blame:
 *
 * | What was said | To blame | What is done | In the end |
 * |---|---|---|---|
 * | refused by a rule of approvals | one audited command | audited ones one by one, the rest together | that command is refused |
 * | held by what all audited commands need | a session left open | the rest together | audited commands come back later |
 * | taken meanwhile | nobody: two reached for what is there once | those decided one by one, the rest together | come back later |
 * | held | a locked row | merchants in ever smaller parts | that merchant waits, others do not |
 * | held, and slow | a statement that takes too long | merchants in parts, then each in a turn of its own | that merchant waits, others do not |
 * | a setback | the server | once more, then in ever smaller parts | come back later |
 * | poisoned | one message: a bug | merchants, then messages, in ever smaller parts | set aside, with an alarm |
 *
 * Dying anywhere in here loses nothing: a command is acknowledged only after its commit, and a
 * fact's row stays in the inbox until it is consumed.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { AuditedRefusal } from "../../ledger/journal/audited_refusal.ts";
import { apartFromAudited } from "./audited.ts";
import type { Work } from "./decide_batch.ts";
import type { DoubtfulMerchants } from "./doubtful_merchants.ts";
import type { Decidable } from "./envelope.ts";
import { apartFromTakers } from "./takers.ts";

const log = getLogger(["engine", "journal"]);

/**
 * How often a slice is decided before its senders are told to come back later: an account that
 * another node has changed, a lost connection and a reference that is taken may come one by one.
 */
export const TRIES = 4;
/** Pause after the server refused a batch for reasons of its own. */
const SETBACK_MS = 50;
/** Into how many parts a batch is split to find what breaks it: a few tries for hundreds of merchants. */
const PARTS = 8;
/** The most messages of one merchant that are tried apart in a row; others wait for that long. */
const APART_LIMIT = 32;

/** Why nothing of a batch was done. */
export type RolledBack =
  /** Only audited commands can be to blame. */
  | { readonly kind: "audited"; readonly error: unknown; readonly why: AuditedRefusal }
  /** What it takes was taken by another. */
  | { readonly kind: "taken"; readonly error: unknown }
  /**
   * A row of one of its merchants is locked, or a statement took too long; with what the try cost,
   * and all merchants of it, also those whose senders have left.
   */
  | {
    readonly kind: "held";
    readonly error: unknown;
    readonly costMs: number;
    readonly merchantIds: readonly string[];
  }
  /** For reasons of the server's own; with what the try cost. */
  | { readonly kind: "setback"; readonly error: unknown; readonly costMs: number }
  /** A bug in one of its messages, or one that takes its connection down every time. */
  | { readonly kind: "poisoned"; readonly error: unknown };

/** What recovering works with. */
export interface Recovering {
  readonly store: Pick<JournalStore, "isConnectionError">;
  /** Decides and writes a batch; the attempt counts how often it was decided, this time included. */
  readonly process: (work: Work, attempt: number) => Promise<void>;
  readonly doubts: Pick<DoubtfulMerchants, "failed" | "add" | "isToBlame" | "isStalled">;
  /** Told of a merchant whose message broke a batch. */
  readonly suspect: (merchantId: string) => void;
  /** Gives messages back to their merchant's mailbox, which rests for as long as others were kept. */
  readonly hold: (merchantId: string, envelopes: readonly Decidable[], costMs: number) => void;
  /** Gives messages back to their merchant's mailbox, for its next turn. */
  readonly giveBack: (merchantId: string, envelopes: readonly Decidable[]) => void;
  /** Sets an inbox row aside. */
  readonly quarantine: (envelope: Decidable, reason: string) => Promise<void>;
}

/**
 * Brings a batch of which nothing was done to an end: when this returns, every sender has an answer
 * or its place in a mailbox, and every fact is consumed, set aside, or left in its row for a later
 * wake-up.
 *
 * @param work what is still owed an answer, see {@linkcode unsettled}
 * @param attempt how often the batch has been decided
 * @throws when the database is gone for good, or on a bug of the journal's own
 */
export async function recover(
  recovering: Recovering,
  why: RolledBack,
  work: Work,
  attempt: number,
): Promise<void> {
  switch (why.kind) {
    case "audited":
      return await decideAuditedApart(recovering, work, why, attempt);
    case "taken":
      return await decideApart(recovering, work, why.error, attempt);
    case "held":
      return recovering.doubts.failed(why.costMs)
        ? await letWaitSlow(recovering, work, why, attempt)
        : await letWait(recovering, work, why.error, why.costMs);
    case "setback":
      recovering.doubts.failed(why.costMs);
      return await bear(recovering, work, why.error, attempt);
    case "poisoned":
      return await isolate(recovering, work, why.error);
    default: {
      const never: never = why;
      return never;
    }
  }
}

/** The messages whose senders still wait; they may be decided again. */
export function unsettled(work: Work): Work {
  const left: Map<string, readonly Decidable[]> = new Map();
  for (const [merchantId, envelopes] of work) {
    const open = envelopes.filter((envelope) => envelope.kind === "fact" || !envelope.settled);
    // a sender whose time ends from here on is told that nothing happened, which is so
    for (const envelope of open) if (envelope.kind === "command") envelope.decided = false;
    if (open.length > 0) left.set(merchantId, open);
  }
  return left;
}

/** Tells senders to come back later: nothing of theirs happened, and none of them is to blame. */
export function comeBackLater(work: Work): void {
  for (const envelope of [...work.values()].flat()) {
    // a fact's row is still there, and found again by the sweep
    if (envelope.kind === "command") envelope.settle({ kind: "overloaded" });
  }
}

/**
 * A rule of approvals refused the batch, or what all audited commands need is held: everything else is
 * decided without them. Whom the rule means is found by deciding each alone, and told so.
 */
async function decideAuditedApart(
  recovering: Recovering,
  work: Work,
  { error, why }: RolledBack & { readonly kind: "audited" },
  attempt: number,
): Promise<void> {
  const { audited, others } = apartFromAudited(work);
  const ruled = [...audited].flatMap(([merchantId, envelopes]) =>
    envelopes.map((envelope) => ({ merchantId, envelope }))
  );
  if (ruled.length === 0) {
    // the senders of the audited ones have left meanwhile; if there were none, it is a bug
    if (attempt < TRIES) return await processAny(recovering, others, attempt + 1);
    return await isolate(recovering, others, error);
  }
  if (why === "held") {
    log.warn(
      "{count} audited commands are sent away, as a row that all of them need is held: {error}",
      {
        count: ruled.length,
        error,
      },
    );
    comeBackLater(audited);
    return await processAny(recovering, others, 1);
  }
  const [first] = ruled;
  if (ruled.length === 1 && others.size === 0 && first?.envelope.kind === "command") {
    const isSecondMissing = why === "second_administrator";
    const refusal = { code: "same_administrator", isSecondMissing } as const;
    return first.envelope.settle({ kind: "refused", refusal });
  }
  await processAny(recovering, others, 1);
  for (const { merchantId, envelope } of ruled.slice(0, APART_LIMIT)) {
    await recovering.process(new Map([[merchantId, [envelope]]]), 1);
  }
  for (const { merchantId, envelope } of ruled.slice(APART_LIMIT)) {
    recovering.giveBack(merchantId, [envelope]);
  }
}

async function processAny(recovering: Recovering, work: Work, attempt: number): Promise<void> {
  if (work.size > 0) await recovering.process(work, attempt);
}

/**
 * What is there once for all merchants was reached for by two at once, and nobody is to blame:
 * decided one after the other, the second is told of the first.
 */
async function decideApart(
  recovering: Recovering,
  work: Work,
  error: unknown,
  attempt: number,
): Promise<void> {
  const { takers, others } = apartFromTakers(work);
  // a message that takes what it is not known to take: a bug, and together they would fail for ever
  if (takers.size === 0) return await isolate(recovering, work, error);
  log.info("what is there once was taken meanwhile, deciding {count} merchants again", {
    count: work.size,
  });
  // these lost nothing but their company, so their tries begin anew
  await recovering.process(others, 1);
  if (attempt < TRIES) {
    for (const part of oneByOne(takers)) await recovering.process(part, attempt + 1);
    return;
  }
  comeBackLater(takers);
}

/**
 * One merchant's row is locked, or its statement takes too long: the others are decided without it,
 * and it rests with its messages in its mailbox. Nothing is set aside, and no sender is sent away
 * before its time is over: the lock may be another node's, and gone in a moment.
 */
async function letWait(
  recovering: Recovering,
  work: Work,
  error: unknown,
  costMs: number,
): Promise<void> {
  log.warn("{count} merchants wait, as a row of theirs is locked or a statement is slow: {error}", {
    count: work.size,
    error,
  });
  if (work.size > 1) {
    for (const part of partsOf(work)) await recovering.process(part, 1);
    return;
  }
  for (const [merchantId, envelopes] of work) {
    // its next try is not to cost others their batch
    recovering.suspect(merchantId);
    recovering.hold(merchantId, envelopes, costMs);
  }
}

/**
 * A statement took as long as it may, and perhaps one merchant is to blame: the others are decided
 * in parts, and those of a part that is slow again each in a turn of its own, so that the rest waits
 * for two such statements and not for all that it takes to find one. What fails is known by the
 * batch's merchants: the senders' time may be over long before.
 */
async function letWaitSlow(
  recovering: Recovering,
  work: Work,
  { error, costMs, merchantIds }: RolledBack & { readonly kind: "held" },
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
    recovering.hold(alone, work.get(alone) ?? [], costMs);
    return;
  }
  doubts.add(merchantIds);
  const parts = attempt === 1 && merchantIds.length > 1 ? partsOf(work) : [work];
  for (const part of parts) {
    if (parts.length > 1 && !doubts.isStalled) await recovering.process(part, attempt + 1);
    else for (const [id, envelopes] of part) recovering.giveBack(id, envelopes);
  }
}

/**
 * What the server refused for reasons of its own is tried again, then in ever smaller parts, and
 * given back in the end; nothing is set aside.
 */
async function bear(
  recovering: Recovering,
  work: Work,
  error: unknown,
  attempt: number,
): Promise<void> {
  log.warn("the database refused a batch of {count} merchants, trying again: {error}", {
    count: work.size,
    error,
  });
  if (attempt === 1 || (attempt < TRIES && work.size === 1)) {
    await new Promise((resolve) => setTimeout(resolve, SETBACK_MS));
    return await recovering.process(work, attempt + 1);
  }
  if (work.size === 1) return comeBackLater(work);
  for (const part of partsOf(work)) {
    // a server that is slow to refuse would keep everybody for as long as there are parts
    if (recovering.doubts.isStalled) comeBackLater(part);
    else await recovering.process(part, TRIES);
  }
}

/**
 * Finds the message that breaks a batch: merchants in ever smaller parts, then the messages of one.
 * What still fails alone is set aside with an alarm; everything else goes on.
 */
async function isolate(recovering: Recovering, work: Work, error: unknown): Promise<void> {
  if (work.size > 1) {
    log.error("a batch of {count} merchants failed, trying them apart: {error}", {
      count: work.size,
      error,
    });
    for (const part of partsOf(work)) await recovering.process(part, 1);
    return;
  }
  for (const [merchantId, envelopes] of work) {
    recovering.suspect(merchantId);
    const [alone] = envelopes;
    if (envelopes.length === 1 && alone !== undefined) {
      return await setAside(recovering, merchantId, alone, error);
    }
    recovering.giveBack(merchantId, envelopes.slice(APART_LIMIT));
    for (const part of inParts(envelopes.slice(0, APART_LIMIT))) {
      await recovering.process(new Map([[merchantId, part]]), 1);
    }
  }
}

/** The end of a message that fails even alone. */
async function setAside(
  { store, quarantine }: Recovering,
  merchantId: string,
  envelope: Decidable,
  error: unknown,
): Promise<void> {
  log.error("a message cannot be carried out and is set aside: {type} of {merchantId}: {error}", {
    type: envelope.message.type,
    merchantId,
    error,
  });
  // a database that keeps going away is not the row's fault: a later wake-up tries again
  if (envelope.kind === "fact" && store.isConnectionError(error)) return;
  await quarantine(envelope, `bug: ${error}`);
}

function oneByOne(work: Work): readonly Work[] {
  return [...work].map((one) => new Map([one]));
}

/** The merchants of a batch in parts, so that few fail with another. */
function partsOf(work: Work): readonly Work[] {
  return inParts([...work]).map((part) => new Map(part));
}

function inParts<T>(list: readonly T[]): readonly (readonly T[])[] {
  const size = Math.ceil(list.length / PARTS);
  return Array.from(
    { length: Math.ceil(list.length / size) },
    (_, n) => list.slice(n * size, (n + 1) * size),
  );
}
