import type { Envelope } from "../../chains/chain.ts";
import type { SignRequest } from "../../chains/signer.ts";

/** Asks for the payment of one intent. */
export function requestOf(outgoingId: string, envelope: Envelope): SignRequest {
  return { outgoingIds: [outgoingId], envelope, purpose: "pay" };
}
