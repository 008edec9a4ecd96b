/**
 * References come before funds in the order of refusals, but only those of late are in memory; the
 * others are found taken by the unique index when the withdrawal is written. One that is refused
 * for want of funds is never written, so its reference is looked up before it is told so: a merchant
 * that repeats a request whose answer it lost must hear of its withdrawal, not of its balance.
 *
 * @module
 */

import type {
  ReferenceHolder,
  WantedReference,
} from "../../ledger/journal/find_reference_holders.ts";
import type { Draft } from "./draft.ts";
import type { Decidable } from "./envelope.ts";
import { type Refusal, REFUSAL_CODES } from "../merchant/refusal.ts";
import type { DecidedMessage, Slice } from "./slice.ts";

/**
 * The reference that a refused message wanted, if it is not known whether it is taken; `null`
 * otherwise. To be asked when the message is decided: later ones of its batch may free a reference.
 */
export function doubtfulReference(
  draft: Draft,
  { message }: Decidable,
  refusal: Refusal,
): string | null {
  if (message.type !== "reserve" && message.type !== "book-payout") return null;
  if (message.referenceId === null) return null;
  const comesAfter = REFUSAL_CODES.indexOf(refusal.code) > REFUSAL_CODES.indexOf("reference_taken");
  if (!comesAfter) return null;
  // freed by an earlier message of this batch: the draft knows better than the database
  return draft.touchedReferences.has(message.referenceId) ? null : message.referenceId;
}

/** References that have to be looked up before refusals are told. */
export function doubtfulReferences(slices: readonly Slice[]): readonly WantedReference[] {
  return slices.flatMap(({ merchantId, messages }) =>
    messages.flatMap(({ doubtful }) =>
      doubtful === null ? [] : [{ merchantId, referenceId: doubtful }]
    )
  );
}

/** The slice with the refusals corrected whose references turned out to be taken. */
export function withHolders(slice: Slice, holders: readonly ReferenceHolder[]): Slice {
  const held = new Map(
    holders.filter(({ merchantId }) => merchantId === slice.merchantId)
      .map(({ referenceId, withdrawalId }) => [referenceId, withdrawalId]),
  );
  const messages = slice.messages.map((message): DecidedMessage => {
    const withdrawalId = message.doubtful === null ? undefined : held.get(message.doubtful);
    if (withdrawalId === undefined) return message;
    return {
      ...message,
      outcome: { kind: "refused", refusal: { code: "reference_taken", withdrawalId } },
    };
  });
  return { ...slice, messages };
}
