/**
 * The signer: reads committed intents itself and signs what they say, nothing else.
 *
 * @module
 */

import {
  type Intent,
  type IntentSource,
  LARGEST_BATCH,
  type RememberedSignature,
  type SignAnswer,
  type Signer,
  type SignRequest,
  type TransferBuilder,
  type UsedNonce,
} from "../signer.ts";
import type { KeySource } from "../wallet/unlock_wallet.ts";
import { answerRequest } from "./answer_request.ts";
import { type Desk, refuse } from "./desk.ts";
import { nonceKey, PinnedNonces } from "./pinned_nonces.ts";
import { SignedMemory } from "./signed_memory.ts";
import { type ColdAddresses, type SpendingLimits, type SpentHours, Sums } from "./signing_rules.ts";
import type { StoredSignature } from "./stored_signature.ts";

/** Questions for ended intents in one call: some hundredths of a second each. */
const MOST_QUESTIONS = 10;

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
  /** Nonces that were given; empty ones where there is no earlier run to know of. */
  readonly nonces?: PinnedNonces;
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

/** A desk with what makes it durable. */
interface DurableDesk extends Desk, Pick<SignerOptions, "persistSpent" | "persistSigned"> {
  /** True if the last write failed; nothing new is signed until one has succeeded. */
  isBroken: boolean;
}

/**
 * Makes sums and signatures durable, one write after the other; what a failed one left is made up
 * for by the next. The sums come first: a crash in between counts twice, never not at all.
 */
function persister(desk: DurableDesk): () => Promise<void> {
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
        if (hasUncounted) await persistSpent?.(desk.spending.spent(desk.steady()));
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

/** Reads which of the nonces are used that intents were given and that are not those they are to have now. */
async function readUsed(
  { intents: source }: Pick<SignerOptions, "intents">,
  nonces: PinnedNonces,
  requests: readonly SignRequest[],
  intents: ReadonlyMap<string, Intent>,
): Promise<ReadonlyMap<string, UsedNonce>> {
  const places = requests.flatMap(({ outgoingIds, purpose, envelope: { network, nonce } }) => {
    const [first] = outgoingIds.flatMap((id) => intents.get(id) ?? []);
    if (first === undefined || purpose === "cancel") return [];
    return nonces.others(
      outgoingIds,
      nonce === null ? null : { network, payer: first.payer, nonce },
    );
  });
  if (places.length === 0) return new Map();
  const used = await source.readUsed(places);
  return new Map(used.map((one) => [nonceKey(one), one]));
}

/**
 * Learns which intents have ended, so that their nonces make room for new ones: with one question now and then, with several
 * where there is no room.
 */
async function learnEnds(
  { intents: source }: Pick<SignerOptions, "intents">,
  { nonces, steady }: Pick<Desk, "nonces" | "steady">,
  wanted: number,
): Promise<void> {
  const asked = new Set<string>();
  for (let question = 0; question < MOST_QUESTIONS; question++) {
    const next = nonces.toAsk(steady(), wanted);
    if (next.length === 0) return;
    nonces.learn(await source.read(next), steady());
    if (next.some((id) => asked.has(id))) return;
    for (const id of next) asked.add(id);
  }
}

/** Makes the signer. It signs in the order of the requests, one after the other. */
export function createSigner(options: SignerOptions): Required<Signer> {
  const { keys, spending, now, persistSpent, persistSigned } = options;
  const desk: DurableDesk = {
    keys,
    spending,
    now,
    ...(persistSpent === undefined ? {} : { persistSpent }),
    ...(persistSigned === undefined ? {} : { persistSigned }),
    steady: options.steady ?? now,
    coldAddresses: options.coldAddresses ?? {},
    builderOf: new Map(options.builders.map((builder) => [builder.network, builder])),
    memory: options.memory ?? new SignedMemory(),
    nonces: options.nonces ?? new PinnedNonces(),
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
    await learnEnds(options, desk, requests.length);
    const ids = [...new Set(requests.flatMap((request) => request.outgoingIds))];
    const read = await options.intents.read(ids);
    const intents = new Map(read.map((intent) => [intent.outgoingId, intent]));
    if (intents.size !== read.length) {
      throw new Error("Cannot sign as two intents have one id: the database was tampered with");
    }
    const used = await readUsed(options, desk.nonces, requests, intents);
    if (await options.isPaused?.() === true) {
      return requests.map((request) => refuse(request, "paused", "signing is paused"));
    }
    if (desk.isBroken) {
      // signatures that cannot leave would use up the caps, one for each expiry
      await persist();
      // a write may have taken long: what was read before it may no longer be so
      return await sign(requests);
    }
    const batch = { intents, used, judged: { sums: new Sums(), nonces: 0 } };
    const answers = requests.map((request) => answerRequest(desk, request, batch));
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
    // one that carries several intents stands under each of them
    const entries = new Set(outgoingIds.flatMap((id) => desk.memory.recall(id) ?? []));
    const expiring = [...entries].map(({ intents, signed }) => ({
      outgoingIds: intents.map(({ outgoingId }) => outgoingId),
      signed,
      numbered: null,
    }));
    return [...expiring, ...desk.nonces.recall(outgoingIds)];
  };
  return { sign, live };
}
