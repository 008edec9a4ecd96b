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
  type SignAnswer,
  type Signer,
  type SignRequest,
} from "../signer.ts";
import type { KeySource } from "../wallet/unlock_wallet.ts";
import { type ColdAddresses, destinationFault } from "./destination_rule.ts";
import { SignedMemory } from "./signed_memory.ts";
import { type SpendingLimits, type SpentHours } from "./spending_limits.ts";
import type { TransferBuilder } from "./transfer_builder.ts";

/** The only status in which an outgoing row may be signed. */
const SIGNABLE = "queued";
/** Salts tried until a transaction id is new; the second one practically always is. */
const SALTS = 8;

/** What a signer is made of. */
export interface SignerOptions {
  readonly keys: KeySource;
  readonly intents: IntentSource;
  /** One per network it signs for. */
  readonly builders: readonly TransferBuilder[];
  readonly coldAddresses?: ColdAddresses;
  readonly spending: SpendingLimits;
  /** Makes durable what was signed away; no signature leaves before it is. */
  readonly keepSpent?: (spent: SpentHours) => Promise<void>;
  /** While true every request is refused as `paused`; asked once for each batch. */
  readonly isPaused?: () => boolean | Promise<boolean>;
  /** Wall clock, Unix milliseconds. */
  readonly now: () => number;
}

type Refused = Extract<SignAnswer, { readonly refused: string }>;

/** A refusal with its message. */
function refuse(outgoingId: string, refused: Refused["refused"], reason: string): Refused {
  return { outgoingId, refused, message: `Cannot sign ${outgoingId} as ${reason}` };
}

/** What all requests of one signer share. */
interface Desk extends SignerOptions {
  readonly builderOf: ReadonlyMap<string, TransferBuilder>;
  readonly memory: SignedMemory;
  /** Whether something was signed away that is not durably counted yet. */
  hasUnkept: boolean;
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

/** Answers one request whose intent was read. Guards stand in the order of their precedence. */
function answer(desk: Desk, request: SignRequest, intent: Intent | undefined): SignAnswer {
  const { outgoingId, envelope } = request;
  const now = desk.now();
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
  const earlier = desk.memory.find(intent, builder.blockTime(envelope));
  if (earlier === "changed") {
    return refuse(outgoingId, "not-queued", "other details were signed and have not expired");
  }
  if (earlier !== null) return { outgoingId, signed: earlier };
  const limitFault = desk.spending.fault(intent, now);
  if (limitFault !== null) return refuse(outgoingId, "over-limit", `it is ${limitFault}`);
  const signed = signFresh(desk, intent, (salt) => builder.sign(intent, envelope, key, salt));
  desk.memory.keep(intent, signed);
  if (desk.spending.count(intent, now)) desk.hasUnkept = true;
  return { outgoingId, signed };
}

/** Makes the sums durable, one write after the other; a failed one is made up for by the next. */
function keeper(desk: Desk): () => Promise<void> {
  const { keepSpent } = desk;
  let last: Promise<void> = Promise.resolve();
  return () => {
    const turn = async () => {
      if (keepSpent === undefined || !desk.hasUnkept) return;
      desk.hasUnkept = false;
      try {
        await keepSpent(desk.spending.spent(desk.now()));
      } catch (error) {
        desk.hasUnkept = true;
        throw error;
      }
    };
    last = last.then(turn, turn);
    return last;
  };
}

/** Makes the signer. It signs in the order of the requests, one after the other. */
export function createSigner(options: SignerOptions): Signer {
  const desk: Desk = {
    ...options,
    builderOf: new Map(options.builders.map((builder) => [builder.network, builder])),
    memory: new SignedMemory(),
    hasUnkept: false,
  };
  const keep = keeper(desk);
  return {
    async sign(requests) {
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
      const answers = requests.map((request) =>
        answer(desk, request, intents.get(request.outgoingId))
      );
      await keep();
      return answers;
    },
  };
}
