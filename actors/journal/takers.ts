import type { Work } from "./decide_batch.ts";
import type { Decidable } from "./envelope.ts";

/**
 * The merchants of a batch with a message that may take what is there once for all merchants, and
 * the others: the id of an upstream event, a payment of somebody else's wallet, and the transaction
 * that a deposit by hand names.
 */
export function apartFromTakers(work: Work): { readonly takers: Work; readonly others: Work } {
  const takers = new Map<string, readonly Decidable[]>();
  const others = new Map<string, readonly Decidable[]>();
  for (const [merchantId, envelopes] of work) {
    const part = envelopes.some(mayTake) ? takers : others;
    part.set(merchantId, envelopes);
  }
  return { takers, others };
}

function mayTake({ message }: Decidable): boolean {
  return message.type === "decide-deposit" || message.type === "ingest-withdrawal";
}
