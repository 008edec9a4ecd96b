/**
 * One merchant's part of a batch: its messages, decided in order on a draft.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import { type Answer, decide } from "../merchant/decide.ts";
import { doubtfulReference } from "./doubtful_references.ts";
import type { Decision } from "../merchant/decision.ts";
import type { Draft } from "./draft.ts";
import type { Decidable, FactEnvelope } from "./envelope.ts";
import type { Refusal } from "../merchant/refusal.ts";

const log = getLogger(["engine", "merchant"]);

/** What a message's sender will be told once the batch is durable. */
export interface DecidedMessage {
  readonly envelope: Decidable;
  readonly outcome: AskOutcome<Answer, Refusal>;
  /** A reference that may be taken, which would be the reason to tell; null where it is known. */
  readonly doubtful: string | null;
  /** Networks of queued payouts that it gives up unpaid, which waits while signing is stopped. */
  readonly refunds: readonly Network[];
}

/** A slice after deciding. */
export interface Slice {
  readonly merchantId: string;
  readonly draft: Draft;
  readonly messages: readonly DecidedMessage[];
  /** Facts to be set aside, with the reason. */
  readonly aside: readonly { readonly envelope: FactEnvelope; readonly reason: string }[];
}

/**
 * Decides a merchant's messages in order. A message that breaks an assumption is taken out alone;
 * it cannot have changed anything, because a decision is taken in whole or not at all.
 */
export function decideSlice(
  merchantId: string,
  draft: Draft,
  settings: Settings,
  envelopes: readonly Decidable[],
): Slice {
  const messages: DecidedMessage[] = [];
  const aside: { envelope: FactEnvelope; reason: string }[] = [];
  for (const envelope of envelopes) {
    if (envelope.kind === "command" && envelope.settled) continue;
    let outcome: AskOutcome<Answer, Refusal>;
    let doubtful: string | null = null;
    let refunds: readonly Network[] = [];
    try {
      const verdict = decide(draft, settings, envelope.message);
      if (verdict.kind === "decided") {
        draft.take(verdict.decision);
        refunds = refundsOf(verdict.decision);
        outcome = { kind: "done", value: verdict.answer };
      } else if (verdict.kind === "refused") {
        outcome = { kind: "refused", refusal: verdict.refusal };
        doubtful = doubtfulReference(draft, envelope, verdict.refusal);
      } else {
        if (envelope.kind === "fact") aside.push({ envelope, reason: verdict.reason });
        continue;
      }
    } catch (error) {
      log.error("a message broke an assumption and is set aside: {type} of {merchantId}: {error}", {
        type: envelope.message.type,
        merchantId,
        error,
      });
      if (envelope.kind === "fact") aside.push({ envelope, reason: `bug: ${error}` });
      outcome = { kind: "failed" };
    }
    messages.push({ envelope, outcome, doubtful, refunds });
  }
  return { merchantId, draft, messages, aside };
}

/** The networks of the payouts that a decision takes out of the queue without their being paid. */
function refundsOf({ voided, withdrawals }: Decision): readonly Network[] {
  const queued = new Set(voided.filter((row) => row.fromStatus === "queued").map(({ id }) => id));
  return withdrawals
    .filter(({ outgoingId, status }) => queued.has(outgoingId ?? "") && status !== "CONFIRMED")
    .map(({ network }) => network);
}
