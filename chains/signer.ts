/**
 * The signer's port: the only way to a signature. The caller names an outgoing row; the signer
 * reads the committed intent itself and decides destination and amount from that, so a treasury
 * gone wrong can ask only for payments that were really decided.
 *
 * @module
 */

import type { Amount } from "../ledger/amount.ts";
import type { Network } from "../ledger/pair.ts";
import type { Asset, Envelope, SignedTransaction } from "./chain.ts";

/** What the signer reads of an outgoing row, over its own connection. */
export interface Intent {
  readonly outgoingId: string;
  readonly network: Network;
  /** A token, or the chain's own coin where an address is given what its sweep will burn. */
  readonly currency: Asset;
  readonly amount: Amount;
  readonly destination: string;
  /** Derivation index of the paying address, or `hot` for the hot wallet. */
  readonly wallet: "hot" | number;
  readonly status: string;
}

/** Where the signer reads intents. */
export interface IntentSource {
  /** The intents that exist among the given ids, in any order. */
  read(outgoingIds: readonly string[]): Promise<readonly Intent[]>;
}

/** One request for a signature. */
export interface SignRequest {
  readonly outgoingId: string;
  readonly envelope: Envelope;
}

/** Answer to one {@linkcode SignRequest}. */
export type SignAnswer =
  | { readonly outgoingId: string; readonly signed: SignedTransaction }
  | {
    readonly outgoingId: string;
    readonly refused:
      | "unknown-intent"
      | "not-queued"
      | "locked"
      | "wrong-network"
      | "bad-envelope"
      | "over-limit";
    readonly message: string;
  };

/** Signs committed intents. */
export interface Signer {
  /**
   * Signs a batch; answers in the order of the requests.
   *
   * @throws when the signer cannot be reached; then nothing was signed that anybody holds
   */
  sign(requests: readonly SignRequest[]): Promise<readonly SignAnswer[]>;
}
