/**
 * The signer: reads committed intents itself and signs what they say, nothing else.
 *
 * @module
 */

import type { SignedTransaction } from "../chain.ts";
import {
  type Intent,
  type IntentSource,
  LARGEST_BATCH,
  type RememberedSignature,
  type SignAnswer,
  type Signer,
  type SignRequest,
  type TransferBuilder,
} from "../signer.ts";
import type { KeySource } from "../wallet/unlock_wallet.ts";
import {
  type ColdAddresses,
  destinationFault,
  type SpendingLimits,
  type SpentHours,
} from "./signing_rules.ts";
import { SignedMemory, type StoredSignature } from "./signed_memory.ts";

/** The only status in which an outgoing row may be signed. */
const SIGNABLE = "queued";
/** Salts tried until a transaction id is new; the second one practically always is. */
const SALTS = 8;
/**
 * Time after its expiry, by the clock, for which a signature still counts as live: a block that takes it
 * may be on its way, slots may be missed, and clocks differ a little. A solid block that has passed
 * the expiry is older than this.
 */
const SETTLING_MS = 30_000;

/**
 * A clock that cannot be set while the process lives: it begins where the machine's own stood at the
 * start and goes on by the time that has passed. A machine's clock that is ahead for a moment ends no
 * day of a cap, and no life of a signature.
 *
 * @param wall the machine's own clock, Unix milliseconds
 * @param monotonic a clock that is never set, milliseconds
 * @returns Unix milliseconds
 */
export function steadyClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  const start = wall() - monotonic();
  return () => Math.floor(start + monotonic());
}

/** Parts of a signer. */
export interface SignerOptions {
  readonly keys: KeySource;
  readonly intents: IntentSource;
  /** One per network it signs for. */
  readonly builders: readonly TransferBuilder[];
  readonly coldAddresses?: ColdAddresses;
  readonly spending: SpendingLimits;
  /** Makes durable what was signed away; no signature leaves before it is. */
  readonly persistSpent?: (spent: SpentHours) => Promise<void>;
  /** Signatures of late; an empty one where there is no earlier run to know of. */
  readonly memory?: SignedMemory;
  /** Makes signatures durable; none leaves before it is. */
  readonly persistSigned?: (batch: readonly StoredSignature[]) => Promise<void>;
  /** While true every request is refused as `paused`; asked before a batch is signed. */
  readonly isPaused?: () => boolean | Promise<boolean>;
  /** Wall clock, Unix milliseconds: blocks are compared with it. */
  readonly now: () => number;
  /**
   * A clock that cannot be set while the signer lives, Unix milliseconds: the caps of a day and the
   * lives of signatures go by it; default `now`.
   */
  readonly steady?: () => number;
}

type Refused = Extract<SignAnswer, { readonly refused: string }>;

/** A refusal with its message. */
function refuse(outgoingId: string, refused: Refused["refused"], reason: string): Refused {
  return { outgoingId, refused, message: `Cannot sign ${outgoingId} as ${reason}` };
}

/** State that all requests of one signer share. */
interface Desk extends SignerOptions {
  readonly builderOf: ReadonlyMap<string, TransferBuilder>;
  readonly memory: SignedMemory;
  /** True if something was signed away that is not durably counted yet. */
  hasUncounted: boolean;
  /** Signatures that are not durable yet. */
  unpersisted: StoredSignature[];
  /** True if the last write failed; nothing new is signed until one has succeeded. */
  isBroken: boolean;
}

/** Builds and signs with the first salt that gives a transaction id of its own. */
function signFresh(
  desk: Desk,
  intent: Intent,
  build: (salt: string) => SignedTransaction,
): SignedTransaction {
  for (let attempt = 0; attempt < SALTS; attempt++) {
    const signed = build(`${intent.outgoingId}/${attempt}`);
    if (!desk.memory.hasTxid(signed.txid)) return signed;
  }
  throw new Error(`Cannot sign as ${SALTS} salts gave known transactions: ${intent.outgoingId}`);
}

/** The time that caps and lives go by. */
function steadyNow({ steady, now }: Desk): number {
  return (steady ?? now)();
}

/** Answers one request whose intent was read. Guards stand in the order of their precedence. */
function answer(desk: Desk, request: SignRequest, intent: Intent | undefined): SignAnswer {
  const { outgoingId, envelope } = request;
  const now = desk.now();
  const steady = steadyNow(desk);
  // before the intent, so that asking about none tells whether the network is signed for at all
  const builder = desk.builderOf.get(envelope.network);
  if (builder === undefined) {
    return refuse(outgoingId, "no-signer", `${envelope.network} is not signed for here`);
  }
  if (desk.keys.key(envelope.network, "hot") === null) {
    return refuse(outgoingId, "locked", `the wallet has no key of ${envelope.network} unlocked`);
  }
  if (intent === undefined) return refuse(outgoingId, "unknown-intent", "it is not committed");
  if (intent.status !== SIGNABLE) {
    return refuse(outgoingId, "not-queued", `its status is ${intent.status}`);
  }
  if (envelope.network !== intent.network) {
    return refuse(outgoingId, "wrong-network", `the envelope is for ${envelope.network}`);
  }
  const intentFault = builder.intentFault(intent);
  if (intentFault !== null) return refuse(outgoingId, "wrong-network", intentFault);
  const key = desk.keys.key(intent.network, intent.wallet);
  if (key === null) {
    return refuse(outgoingId, "locked", `the wallet has no key of ${intent.network} unlocked`);
  }
  const wrongDestination = destinationFault(intent, desk.keys, desk.coldAddresses ?? {});
  if (wrongDestination !== null) {
    return refuse(outgoingId, "wrong-destination", wrongDestination);
  }
  const envelopeFault = builder.envelopeFault(envelope, now);
  if (envelopeFault !== null) return refuse(outgoingId, "bad-envelope", envelopeFault);
  const blockTime = builder.blockTime(envelope);
  // the caller tells the block's time: alone it must not end the life of a signature, nor together
  // with a machine's clock that is ahead for a moment
  const passed = builder.followsClock
    ? Math.min(blockTime, Math.min(now, steady) - SETTLING_MS)
    : blockTime;
  desk.memory.pass(envelope.network, passed);
  const earlier = desk.memory.find(intent, passed);
  if (earlier === "changed") {
    return refuse(outgoingId, "not-queued", "other details were signed and have not expired");
  }
  if (earlier !== null) {
    if (earlier.expiresAt > blockTime) return { outgoingId, signed: earlier };
    const reason = "by the signer's clock its earlier signature may still be valid";
    return refuse(outgoingId, "not-queued", reason);
  }
  if (desk.memory.isFull) {
    return refuse(outgoingId, "over-limit", "too many signatures have not expired yet");
  }
  const limitFault = desk.spending.fault(intent, steady);
  if (limitFault !== null) return refuse(outgoingId, "over-limit", `it is ${limitFault}`);
  const signed = signFresh(desk, intent, (salt) => builder.sign(intent, envelope, key, salt));
  desk.unpersisted.push(desk.memory.remember(intent, signed));
  if (desk.spending.count(intent, steady)) desk.hasUncounted = true;
  return { outgoingId, signed };
}

/**
 * Makes sums and signatures durable, one write after the other; what a failed one left is made up
 * for by the next. The sums come first: a crash in between counts twice, never not at all.
 */
function persister(desk: Desk): () => Promise<void> {
  const { persistSpent, persistSigned } = desk;
  let last: Promise<void> = Promise.resolve();
  return () => {
    const turn = async () => {
      // taken before the sums are: what is signed while those are written may not be in them
      const batch = desk.unpersisted;
      desk.unpersisted = [];
      const { hasUncounted } = desk;
      desk.hasUncounted = false;
      let isCounted = !hasUncounted;
      try {
        if (hasUncounted) await persistSpent?.(desk.spending.spent(steadyNow(desk)));
        isCounted = true;
        if (batch.length > 0) await persistSigned?.(batch);
        desk.isBroken = false;
      } catch (error) {
        desk.unpersisted = [...batch, ...desk.unpersisted];
        desk.hasUncounted ||= !isCounted;
        desk.isBroken = true;
        throw error;
      }
    };
    last = last.then(turn, turn);
    return last;
  };
}

/** Makes the signer. It signs in the order of the requests, one after the other. */
export function createSigner(options: SignerOptions): Required<Signer> {
  const desk: Desk = {
    ...options,
    builderOf: new Map(options.builders.map((builder) => [builder.network, builder])),
    memory: options.memory ?? new SignedMemory(),
    hasUncounted: false,
    unpersisted: [],
    isBroken: false,
  };
  const persist = persister(desk);
  const sign = async (requests: readonly SignRequest[]): Promise<readonly SignAnswer[]> => {
    if (requests.length > LARGEST_BATCH) {
      throw new RangeError(`Cannot sign as the batch is too large: ${requests.length}`);
    }
    if (requests.length === 0) return [];
    const ids = [...new Set(requests.map((request) => request.outgoingId))];
    const read = await options.intents.read(ids);
    const intents = new Map(read.map((intent) => [intent.outgoingId, intent]));
    if (intents.size !== read.length) {
      throw new Error("Cannot sign as two intents have one id: the database was tampered with");
    }
    if (await options.isPaused?.() === true) {
      return requests.map(({ outgoingId }) => refuse(outgoingId, "paused", "signing is paused"));
    }
    if (desk.isBroken) {
      // signatures that cannot leave would use up the caps, one for each expiry
      await persist();
      // a write may have taken long: what was read before it may no longer be so
      return await sign(requests);
    }
    const answers = requests.map((request) =>
      answer(desk, request, intents.get(request.outgoingId))
    );
    desk.memory.sweep();
    await persist();
    return answers;
  };
  const live = async (outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]> => {
    if (outgoingIds.length > LARGEST_BATCH) {
      throw new RangeError(
        `Cannot tell signatures as too many are asked for: ${outgoingIds.length}`,
      );
    }
    // what is not durable yet must not leave
    if (desk.unpersisted.length > 0 || desk.isBroken) await persist();
    return outgoingIds.flatMap((outgoingId) => {
      const signed = desk.memory.recall(outgoingId);
      return signed === null ? [] : [{ outgoingId, signed }];
    });
  };
  return { sign, live };
}
