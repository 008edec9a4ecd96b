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
import { REFUSAL_CODES, type RefusalCode } from "./refusal.ts";
import type { DecidedMessage, Slice } from "./slice.ts";

/** Whether a refusal comes after that of a taken reference. */
function comesAfterReference(code: RefusalCode): boolean {
  return REFUSAL_CODES.indexOf(code) > REFUSAL_CODES.indexOf("reference_taken");
}

/** The reference that a refused message wanted, if nobody has looked whether it is taken. */
function doubtfulReference({ draft }: Slice, message: DecidedMessage): string | null {
  const { envelope, outcome } = message;
  if (outcome.kind !== "refused" || envelope.message.type !== "reserve") return null;
  const { referenceId } = envelope.message;
  if (referenceId === null || !comesAfterReference(outcome.refusal.code)) return null;
  // freed (or taken) by this very batch: the draft knows better than the database
  return draft.touchedReferences.has(referenceId) ? null : referenceId;
}

/** References that have to be looked up before refusals are told. */
export function doubtfulReferences(slices: readonly Slice[]): readonly WantedReference[] {
  return slices.flatMap((slice) =>
    slice.messages.flatMap((message) => {
      const referenceId = doubtfulReference(slice, message);
      return referenceId === null ? [] : [{ merchantId: slice.merchantId, referenceId }];
    })
  );
}

/** The slice with the refusals corrected whose references turned out to be taken. */
export function withHolders(slice: Slice, holders: readonly ReferenceHolder[]): Slice {
  const held = new Map(
    holders.filter(({ merchantId }) => merchantId === slice.merchantId)
      .map(({ referenceId, withdrawalId }) => [referenceId, withdrawalId]),
  );
  const messages = slice.messages.map((message): DecidedMessage => {
    const withdrawalId = held.get(doubtfulReference(slice, message) ?? "");
    if (withdrawalId === undefined) return message;
    return {
      ...message,
      outcome: { kind: "refused", refusal: { code: "reference_taken", withdrawalId } },
    };
  });
  return { ...slice, messages };
}
