/**
 * What becomes of a batch that the database rolled back. Nothing of it is written and nobody was
 * answered, so all of it may be decided anew. What differs is who is to blame:
 *
 * | The database says | To blame | What is done | In the end |
 * |---|---|---|---|
 * | taken meanwhile | nobody: two reached for what is there once | those decided one by one, the rest together | come back later |
 * | a setback | the server, or a locked row | once more, then merchant by merchant | come back later |
 * | poisoned | one message: a bug | merchant by merchant, then message by message | set aside, with an alarm |
 *
 * Dying anywhere in here loses nothing: a command is acknowledged only after its commit, and a
 * fact's row stays in the inbox until it is consumed.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Work } from "./decide_batch.ts";
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

/** Why the database rolled a batch back. */
export type RolledBack =
  /** What it takes was taken by another. */
  | { readonly kind: "taken"; readonly error: unknown }
  /** For reasons of the server's own. */
  | { readonly kind: "setback"; readonly error: unknown }
  /** A bug in one of its messages, or a write that takes its connection down every time. */
  | { readonly kind: "poisoned"; readonly error: unknown };

/** What recovering works with. */
export interface Recovering {
  readonly store: JournalStore;
  /** Decides and writes a batch; the attempt counts how often it was decided, this time included. */
  readonly process: (work: Work, attempt: number) => Promise<void>;
  /** Told of a merchant whose message broke a batch. */
  readonly suspect: (merchantId: string) => void;
  /** Asks the database until it answers. */
  readonly untilAnswered: <T>(ask: () => Promise<T>) => Promise<T>;
}

/**
 * Brings a batch that was rolled back to an end: when this returns, every sender has an answer and
 * every fact is consumed, set aside, or left in its row for a later wake-up.
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
    case "taken":
      return await decideApart(recovering, work, why.error, attempt);
    case "setback":
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
  if (attempt < TRIES) return await oneByOne(recovering, takers, attempt + 1);
  comeBackLater(takers);
}

/**
 * What the server refused for reasons of its own is tried again, then merchant by merchant (it
 * may be one of them whose row is locked), and given back in the end; nothing is set aside.
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
  // each has one more try alone: a locked row costs the server's time-out, and others wait for it
  if (work.size > 1) return await oneByOne(recovering, work, TRIES);
  for (const merchantId of work.keys()) recovering.suspect(merchantId);
  comeBackLater(work);
}

/**
 * Finds the message that breaks a batch: merchants one by one, then messages one by one. What
 * still fails alone is set aside with an alarm; everything else goes on.
 */
async function isolate(recovering: Recovering, work: Work, error: unknown): Promise<void> {
  if (work.size > 1) {
    log.error("a batch was refused by the database, trying its merchants one by one: {error}", {
      error,
    });
    return await oneByOne(recovering, work, 1);
  }
  for (const [merchantId, envelopes] of work) {
    recovering.suspect(merchantId);
    const [alone] = envelopes;
    if (envelopes.length === 1 && alone !== undefined) {
      return await setAside(recovering, merchantId, alone, error);
    }
    for (const envelope of envelopes) {
      await recovering.process(new Map([[merchantId, [envelope]]]), 1);
    }
  }
}

/** The end of a message that cannot be written even alone. */
async function setAside(
  { store, untilAnswered }: Recovering,
  merchantId: string,
  envelope: Decidable,
  error: unknown,
): Promise<void> {
  log.error("a message cannot be written and is set aside: {type} of {merchantId}: {error}", {
    type: envelope.message.type,
    merchantId,
    error,
  });
  if (envelope.kind === "command") return envelope.settle({ kind: "failed" });
  // a database that keeps going away is not the row's fault: a later wake-up tries again
  if (store.isConnectionError(error)) return;
  const { key } = envelope.message;
  await untilAnswered(() => store.quarantineInboxRow(key, `bug: ${error}`));
}

/** Decides and writes merchants apart, so that none of them fails with another. */
async function oneByOne({ process }: Recovering, work: Work, attempt: number): Promise<void> {
  for (const [merchantId, envelopes] of work) {
    await process(new Map([[merchantId, envelopes]]), attempt);
  }
}
