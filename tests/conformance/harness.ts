/**
 * A chain under test, whatever its kind: what the rules of the suite move it with.
 *
 * @module
 */

import type { Asset, Chain, Envelope, Life, SignedTransaction } from "../../chains/chain.ts";
import { type Amount } from "../../ledger/money/amount.ts";
import type { Movement } from "../../chains/fees.ts";
import type { Currency } from "../../ledger/money/pair.ts";

/** A payment to be signed. */
export interface Payment {
  readonly to: string;
  readonly asset: Asset;
  readonly amount: Amount;
}

/** Troubles a harness can make, for the next `times` requests that they concern. */
export type Trouble =
  /** A broadcast is taken, but its answer says it was not. */
  | "accepted-silently"
  /** A broadcast is answered with success and forgotten. */
  | "forgotten"
  /** A broadcast is taken and its answer is lost: an error of the transport. */
  | "answer-lost"
  /** A broadcast is taken and never answered. */
  | "answer-missing"
  /** A payment is included as failed. */
  | "fails-on-chain"
  /** A block's receipts are not there yet. */
  | "receipts-late"
  /** Reads are refused for asking too often. */
  | "rate-limited"
  /** Reads fail with an error of the server. */
  | "server-error";

/** A chain under test with the levers that move it. Blocks are made on demand only. */
export interface ChainHarness extends AsyncDisposable {
  readonly chain: Chain;
  /** A token that the chain has. */
  readonly currency: Currency;
  /** Milliseconds of block time between two blocks. */
  readonly spacingMs: number;
  /** A valid address that no other caller uses. */
  freshAddress(): string;
  /** Texts that look like addresses and are none. */
  readonly notAddresses: readonly string[];
  /** Pays from another party's address, by a transaction that waits for a block. */
  pay(payment: Payment): Promise<string>;
  /** Pays several times from another party's address in one transaction, in the order given. */
  payTogether(payments: readonly Payment[]): Promise<string>;
  /** Moves nothing, and emits the events of a token that is not configured. */
  poison(to: string): Promise<string>;
  /** Makes blocks. */
  mine(blocks: number): Promise<void>;
  /** Drops the newest blocks for good and makes others in their place. */
  reorganise(depth: number): Promise<void>;
  /** Signs a payment of the hot wallet. */
  sign(payment: Payment, envelope: Envelope): Promise<SignedTransaction>;
  /** Signs sweeps that the hot wallet sends in one transaction, on chains where it does. */
  signSweeps?(movements: readonly Movement[], envelope: Envelope): Promise<SignedTransaction>;
  /** Makes trouble. */
  trouble(trouble: Trouble, times: number): Promise<void>;
}

/** Expectations of a chain's kind. Rules that do not concern it are left out, not passed by. */
export interface Kind {
  /** The way in which a transaction ends that is in no block, see `Life` of the port. */
  readonly life: Life["kind"];
  /** True where heights may have no block: a block's parent may be more than one below it. */
  readonly skips: boolean;
  /** `together`: one transaction of the hot wallet collects from several addresses. */
  readonly sweeps: "one by one" | "together";
  /** Amounts of coin that can be sent to an address without any, largest first. */
  readonly coin: readonly string[];
}

/** Registers a rule; every one gets a chain of its own. */
export type Rule = (what: string, run: (harness: ChainHarness) => Promise<void>) => void;
