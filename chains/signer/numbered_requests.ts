/**
 * Signatures that a nonce ends, where senders number their transactions, and what is said of those that have none yet.
 *
 * @module
 */

import type { Ending, SignAnswer, SignRequest } from "../signer.ts";
import { type Batch, type Desk, type Fault, refuse, type Work } from "./desk.ts";
import type { NonceSignature, UseOfNonces } from "./pinned_nonces.ts";
import { committed } from "./stored_signature.ts";

type ByNonce = Extract<Ending, { readonly by: "nonce" }>;

const TOO_MANY_NONCES: Fault = {
  refused: "over-limit",
  reason: "too many nonces, or too long transactions of them, are remembered",
};

/**
 * Finds what would keep intents from being signed with a new nonce, so that none is promised to them in vain: what was
 * judged before in the batch counts as signed.
 *
 * @returns `null` when nothing would
 */
export function judgeNew(desk: Desk, work: Work, ends: ByNonce, batch: Batch): Fault | null {
  const { intents } = work;
  const { judged: { sums, nonces } } = batch;
  const use = useOf(work, ends, batch);
  for (const intent of intents) {
    const reason = desk.nonces.pinFault(intent, use);
    if (reason !== null) return { refused: "wrong-nonce", reason };
  }
  if (!desk.nonces.hasRoom(nonces + 1)) return TOO_MANY_NONCES;
  const limitFault = desk.spending.fault(intents, desk.steady(), sums);
  if (limitFault !== null) return { refused: "over-limit", reason: `it is ${limitFault}` };
  sums.add(intents);
  batch.judged.nonces++;
  return null;
}

/** Uses of nonces, with the proof of the network's builder. */
function useOf(
  { intents, keyOf }: Pick<Work, "intents" | "keyOf">,
  ends: ByNonce,
  { used }: Batch,
): UseOfNonces {
  const { address: payerAddress } = keyOf(intents[0].payer);
  return { used, signedBy: (bytes) => ends.signedBy(bytes), payerAddress };
}

/** Signs what a nonce ends: any number of transactions of the same intents, all with the nonce that they got first. */
export function signNumbered(desk: Desk, work: Work, ends: ByNonce, batch: Batch): SignAnswer {
  const { request, intents, builder, keyOf } = work;
  const { envelope: { network, nonce }, envelope, outgoingIds, purpose } = request;
  const { payer } = intents[0];
  if (nonce === null) {
    return refuse(request, "bad-envelope", "its envelope has no nonce");
  }
  const steady = desk.steady();
  const commitments = intents.map(committed);
  const place = { network, payer, nonce };
  const end = { by: "nonce", payer, nonce, purpose } as const;
  if (purpose === "cancel") {
    const fault = ends.cancelFault(envelope);
    if (fault !== null) return refuse(request, "bad-envelope", fault);
    // it moves nothing, and what it burns is the hot wallet's coin all the same
    const most = ends.mostOf(envelope);
    const added = desk.nonces.addedCost(place, most);
    const limitFault = desk.spending.cancelFault(network, added, ends.cancelsPerDay, steady);
    if (limitFault !== null) return refuse(request, "over-limit", `it is ${limitFault}`);
    const signed = ends.cancel(envelope, keyOf(payer));
    const entry: NonceSignature = { network, intents: commitments, end, signed };
    if (!desk.nonces.makeRoom(entry)) return refuseFull(request);
    if (desk.spending.countCancel(network, added, steady)) desk.hasUncounted = true;
    keep(desk, entry);
    desk.nonces.countCancel(place, most);
    return { outgoingIds, signed };
  }
  const use = useOf(work, ends, batch);
  const verdict = desk.nonces.judge(intents, commitments, place, use);
  if (typeof verdict === "object") return refuse(request, "wrong-nonce", verdict.fault);
  // a replacement pays what its nonce was counted for
  if (verdict === "first") {
    const limitFault = desk.spending.fault(intents, steady);
    if (limitFault !== null) return refuse(request, "over-limit", `it is ${limitFault}`);
  }
  const signed = builder.sign(intents, envelope, keyOf, "");
  const entry: NonceSignature = { network, intents: commitments, end, signed };
  if (!desk.nonces.makeRoom(entry)) return refuseFull(request);
  if (verdict === "first" && desk.spending.count(intents, steady)) desk.hasUncounted = true;
  keep(desk, entry);
  return { outgoingIds, signed };
}

function refuseFull(request: SignRequest): SignAnswer {
  return refuse(request, TOO_MANY_NONCES.refused, TOO_MANY_NONCES.reason);
}

/** Remembers a signature that a nonce ends. */
function keep(desk: Desk, entry: NonceSignature): void {
  desk.nonces.remember(entry);
  desk.unpersisted.push(entry);
}
