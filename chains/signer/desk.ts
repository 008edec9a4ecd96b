/**
 * The parts that the answer to one request for a signature is made of.
 *
 * @module
 */

import type {
  Intent,
  SignAnswer,
  SigningKey,
  SignRequest,
  TransferBuilder,
  UsedNonce,
} from "../signer.ts";
import type { KeySource } from "../wallet/unlock_wallet.ts";
import type { PinnedNonces } from "./pinned_nonces.ts";
import type { SignedMemory } from "./signed_memory.ts";
import type { ColdAddresses, SpendingLimits, Sums } from "./signing_rules.ts";
import type { StoredSignature } from "./stored_signature.ts";

/** State that all requests of one signer share. */
export interface Desk {
  readonly keys: KeySource;
  readonly builderOf: ReadonlyMap<string, TransferBuilder>;
  readonly coldAddresses: ColdAddresses;
  readonly spending: SpendingLimits;
  readonly memory: SignedMemory;
  readonly nonces: PinnedNonces;
  /** Wall clock, Unix milliseconds. */
  readonly now: () => number;
  /** A clock that cannot be set while the signer lives. */
  readonly steady: () => number;
  /** True if something was signed away that is not durably counted yet. */
  hasUncounted: boolean;
  /** Signatures that are not durable yet. */
  unpersisted: StoredSignature[];
}

type Refused = Extract<SignAnswer, { readonly refused: string }>;
/** Reason for which a request is not signed. */
export type Fault = { readonly refused: Refused["refused"]; readonly reason: string };

/** A refusal with its message. */
export function refuse(
  { outgoingIds }: Pick<SignRequest, "outgoingIds">,
  refused: Refused["refused"],
  reason: string,
): Refused {
  return { outgoingIds, refused, message: `Cannot sign ${outgoingIds.join(", ")} as ${reason}` };
}

/** State of one batch of requests. */
export interface Batch {
  /** Rows that were read for it, by their ids. */
  readonly intents: ReadonlyMap<string, Intent>;
  /** Nonces that are used, of those that the signer gave to these intents before; by {@linkcode nonceKey}. */
  readonly used: ReadonlyMap<string, UsedNonce>;
  /** Requests that were judged in it without a nonce and may be signed, all of them together. */
  readonly judged: {
    /** None of it is counted in the day's sums yet. */
    readonly sums: Sums;
    /** Nonces that they will need. */
    nonces: number;
  };
}

/** A request that nothing is wrong with so far. */
export interface Work {
  readonly request: SignRequest;
  readonly intents: readonly [Intent, ...Intent[]];
  readonly builder: TransferBuilder;
  readonly keyOf: (wallet: "hot" | number) => SigningKey;
}
