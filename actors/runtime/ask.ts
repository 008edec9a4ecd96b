/**
 * Outcomes of an `ask`. Only `api/` asks; all other messages have no answer.
 *
 * @module
 */

/** Outcome of asking an actor. `V` is the answer, `R` the closed list of refusals. */
export type AskOutcome<V, R> =
  /** Decided and durable. */
  | { readonly kind: "done"; readonly value: V }
  /** An expected no. Nothing was changed. */
  | { readonly kind: "refused"; readonly refusal: R }
  /** The mailbox is full: nothing was taken. */
  | { readonly kind: "overloaded" }
  /** The deadline passed before the message was decided: it was withdrawn, nothing was changed. */
  | { readonly kind: "withdrawn" }
  /** Decided, but whether it is durable was not known in time: the record tells. */
  | { readonly kind: "unknown" }
  /** The message broke an assumption (a bug): it was quarantined, nothing was changed. */
  | { readonly kind: "failed" };
