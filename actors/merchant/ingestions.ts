import type { Work } from "./decide_batch.ts";
import type { Decidable } from "./envelope.ts";

/** The merchants of a batch of whom an upstream system said something, and the others. */
export function apartFromIngestions(
  work: Work,
): { readonly ingestions: Work; readonly others: Work } {
  const ingestions = new Map<string, readonly Decidable[]>();
  const others = new Map<string, readonly Decidable[]>();
  for (const [merchantId, envelopes] of work) {
    const part = envelopes.some(isIngestion) ? ingestions : others;
    part.set(merchantId, envelopes);
  }
  return { ingestions, others };
}

function isIngestion(envelope: Decidable): boolean {
  const { message } = envelope;
  return "ingestion" in message && message.ingestion !== null;
}
