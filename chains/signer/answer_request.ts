/**
 * Answers one request for a signature: the guards in the order of their precedence, then the bytes.
 *
 * @module
 */

import type { Envelope, SignedTransaction } from "../chain.ts";
import type { Intent, SignAnswer, SigningKey, SignRequest, TransferBuilder } from "../signer.ts";
import { type Batch, type Desk, type Fault, refuse, type Work } from "./desk.ts";
import { judgeNew, signNumbered } from "./numbered_requests.ts";
import { destinationFault } from "./signing_rules.ts";
import { committed } from "./stored_signature.ts";

/** Salts tried until a transaction id is new; the second one practically always is. */
const SALTS = 8;
/**
 * Time after its expiry, by the clock, for which a signature still counts as live: a block that takes it
 * may be on its way, slots may be missed, and clocks differ a little. A solid block that has passed
 * the expiry is older than this.
 */
const SETTLING_MS = 30_000;

/** Answers one request whose intents were read. */
export function answerRequest(desk: Desk, request: SignRequest, batch: Batch): SignAnswer {
  const { envelope, outgoingIds } = request;
  // before the intents, so that asking about none tells whether the network is signed for at all
  const builder = desk.builderOf.get(envelope.network);
  if (builder === undefined) {
    return refuse(request, "no-signer", `${envelope.network} is not signed for here`);
  }
  const locked = `the wallet has no key of ${envelope.network} unlocked`;
  if (desk.keys.key(envelope.network, "hot") === null) return refuse(request, "locked", locked);
  const intents = outgoingIds.flatMap((id) => batch.intents.get(id) ?? []);
  const [first, ...others] = intents;
  if (first === undefined || intents.length < outgoingIds.length) {
    return refuse(request, "unknown-intent", "it is not committed");
  }
  const keys = new Map<"hot" | number, SigningKey>();
  const keyOf = (wallet: "hot" | number) => {
    const key = keys.get(wallet);
    if (key === undefined) throw new Error(`Cannot sign with a key of another wallet: ${wallet}`);
    return key;
  };
  const work: Work = { request, intents: [first, ...others], builder, keyOf };
  const fault = request.purpose === "cancel"
    ? togetherFault(work) ?? cancelFault(work)
    : statusFault(desk, work) ?? togetherFault(work) ?? faultOfOne(builder, intents);
  if (fault !== null) return refuse(request, fault.refused, fault.reason);
  for (const wallet of new Set([first.payer, ...intents.map((intent) => intent.wallet)])) {
    const key = desk.keys.key(envelope.network, wallet);
    if (key === null) return refuse(request, "locked", locked);
    keys.set(wallet, key);
  }
  if (request.purpose === "pay") {
    const hot = desk.keys.address(envelope.network, "hot");
    const setup = hot === null ? null : builder.setupOf?.(hot) ?? null;
    for (const intent of intents) {
      const reason = destinationFault(intent, desk.keys, desk.coldAddresses, setup);
      if (reason !== null) return refuse(request, "wrong-destination", reason);
    }
  }
  // asked without a nonce, so that none is promised to what is refused for reasons of its own: it is judged, and never signed
  const { ends } = builder;
  if (ends.by === "nonce" && envelope.nonce === null && request.purpose === "pay") {
    const newFault = judgeNew(desk, work, ends, batch);
    if (newFault !== null) return refuse(request, newFault.refused, newFault.reason);
  }
  const envelopeFault = endFault(builder, envelope) ?? builder.envelopeFault(envelope, desk.now());
  if (envelopeFault !== null) return refuse(request, "bad-envelope", envelopeFault);
  return ends.by === "nonce" ? signNumbered(desk, work, ends, batch) : signExpiring(desk, work);
}

/**
 * Intents are paid while they are queued; those that a nonce was given to also while they are signed. A signer that has
 * lost what it knew goes by the nonce that is promised: no other transaction of it than theirs can land.
 */
function statusFault(desk: Desk, { request, intents, builder }: Work): Fault | null {
  const { network, nonce } = request.envelope;
  for (const { outgoingId, status, payer, nonce: promised } of intents) {
    if (status === "queued") continue;
    const isReplaced = status === "signed" && builder.ends.by === "nonce" && nonce !== null &&
      (desk.nonces.isPinned(outgoingId, { network, payer, nonce }) ||
        (promised === nonce && !desk.nonces.hasNonce(outgoingId)));
    if (!isReplaced) return { refused: "not-queued", reason: `its status is ${status}` };
  }
  return null;
}

/** A nonce is taken out of use only for intents that it is promised to, and that are not over. */
function cancelFault({ request: { envelope: { nonce } }, intents }: Work): Fault | null {
  for (const { outgoingId, status, nonce: promised } of intents) {
    if (status === "final") return { refused: "not-queued", reason: `its status is ${status}` };
    if (nonce !== null && promised !== nonce) {
      return { refused: "wrong-nonce", reason: `nonce ${nonce} is not promised to ${outgoingId}` };
    }
  }
  return null;
}

/** Intents that share a transaction are of its network and of one payer, and sweeps that the hot wallet sends. */
function togetherFault({ request: { envelope, outgoingIds }, intents }: Work): Fault | null {
  const [first] = intents;
  for (const { network, kind, payer } of intents) {
    if (network !== envelope.network) {
      return { refused: "wrong-network", reason: `the envelope is for ${envelope.network}` };
    }
    const mayShare = kind === "sweep" && payer === "hot";
    if (intents.length > 1 && (!mayShare || kind !== first.kind || payer !== first.payer)) {
      return { refused: "not-together", reason: `a ${kind} shares no transaction` };
    }
  }
  return new Set(outgoingIds).size === outgoingIds.length
    ? null
    : { refused: "not-together", reason: "it is named twice" };
}

function faultOfOne(builder: TransferBuilder, intents: readonly Intent[]): Fault | null {
  for (const intent of intents) {
    const reason = builder.intentFault(intent);
    if (reason !== null) return { refused: "wrong-network", reason };
  }
  return null;
}

/** An envelope ends in the one way that its network knows. */
function endFault({ ends }: TransferBuilder, envelope: Envelope): string | null {
  const { nonce, diesAfter, expiresAt } = envelope;
  const isWhole = (one: number | null) => one !== null && Number.isSafeInteger(one) && one >= 0;
  if (ends.by === "nonce") {
    if (!isWhole(nonce)) return `its envelope has no nonce: ${nonce}`;
    return diesAfter === null && expiresAt === null ? null : "its envelope ends in two ways";
  }
  if (nonce !== null) return `its envelope has a nonce: ${nonce}`;
  return isWhole(diesAfter) && isWhole(expiresAt) ? null : "its envelope has no end";
}

/** Signs what expires; until it has, the same intents get the same bytes. */
function signExpiring(desk: Desk, work: Work): SignAnswer {
  const { request, intents, builder: { ends } } = work;
  const { envelope, outgoingIds } = request;
  const now = desk.now();
  const steady = desk.steady();
  const commitments = intents.map(committed);
  if (ends.by === "nonce" || request.purpose === "cancel" || envelope.expiresAt === null) {
    return refuse(request, "wrong-nonce", "its network counts no nonces");
  }
  desk.memory.passClock(steady);
  const blockTime = ends.by === "time" ? ends.blockTime(envelope) : null;
  if (ends.by === "time" && blockTime !== null) {
    // the caller tells the block's time: alone it must not end the life of a signature, nor together
    // with a machine's clock that is ahead for a moment
    const passed = ends.followsClock
      ? Math.min(blockTime, Math.min(now, steady) - SETTLING_MS)
      : blockTime;
    desk.memory.pass(envelope.network, passed);
  }
  const earlier = desk.memory.find(commitments);
  if (earlier === "changed") {
    return refuse(request, "not-queued", "other details were signed and have not expired");
  }
  if (earlier !== null) {
    const isUsable = blockTime === null || (earlier.expiresAt ?? 0) > blockTime;
    if (isUsable) return { outgoingIds, signed: earlier };
    const reason = "by the signer's clock its earlier signature may still be valid";
    return refuse(request, "not-queued", reason);
  }
  if (desk.memory.isFull) {
    return refuse(request, "over-limit", "too many signatures have not expired yet");
  }
  const limitFault = desk.spending.fault(intents, steady);
  if (limitFault !== null) return refuse(request, "over-limit", `it is ${limitFault}`);
  const signed = signFresh(desk, work);
  const entry = {
    network: envelope.network,
    intents: commitments,
    end: ends.by === "time"
      ? { by: "time", at: envelope.expiresAt } as const
      : { by: "clock", at: steady + ends.settlesMs } as const,
    signed,
  };
  desk.memory.remember(entry);
  desk.unpersisted.push(entry);
  if (desk.spending.count(intents, steady)) desk.hasUncounted = true;
  return { outgoingIds, signed };
}

/** Builds and signs with the first salt that gives a transaction id of its own. */
function signFresh(desk: Desk, { request, intents, builder, keyOf }: Work): SignedTransaction {
  const name = request.outgoingIds.join("+");
  for (let attempt = 0; attempt < SALTS; attempt++) {
    const signed = builder.sign(intents, request.envelope, keyOf, `${name}/${attempt}`);
    if (!desk.memory.hasTxid(signed.txid)) return signed;
  }
  throw new Error(`Cannot sign as ${SALTS} salts gave known transactions: ${name}`);
}
