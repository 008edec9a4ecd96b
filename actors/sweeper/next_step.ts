/**
 * The next step for one address. One step at a time, in three files: what the books alone decide
 * (`books_step.ts`), and with the chain's answers how tokens leave an address that pays for its own transfers
 * (`own_coin_step.ts`) or one whose transfers the hot wallet pays for (`sponsored_step.ts`). Each poll
 * decides anew, so that after any death or failure the next poll simply goes on from what is true then.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type { OpenItem, SweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import type { SweepAddress, SweepReason } from "../../ledger/sweeps/sweep_addresses.ts";
import type { SweepPace, SweepTerms } from "./sweep_terms.ts";

/** Next step for an address. */
export type NextStep =
  /** Carries everything that is there, listing these transfers. */
  | { readonly do: "sweep"; readonly amount: Amount; readonly items: readonly OpenItem[] }
  | { readonly do: "fund-gas"; readonly amount: Amount; readonly wakes: boolean }
  | { readonly do: "delegate"; readonly amount: Amount }
  | { readonly do: "undelegate"; readonly amount: Amount }
  /** Gives up a transfer that could not be signed for too long. */
  | { readonly do: "give-up"; readonly outgoingId: string; readonly why: string }
  /** Notifies merchants that wait for final sweeps, once more. */
  | { readonly do: "notify"; readonly outgoingIds: readonly string[]; readonly wait: Wait }
  | Wait
  /** Nothing is left to do. */
  | { readonly do: "close" };

/** The address is left alone for a while, with a reason that operators see. */
export interface Wait {
  readonly do: "wait";
  readonly reason: SweepReason;
  readonly detail: string;
  readonly pollMs: number;
}

export interface AddressState {
  readonly target: SweepAddress;
  readonly facts: SweepFacts;
  readonly terms: SweepTerms;
  readonly pace: SweepPace;
  /** True where the chain has a contract of the currency. */
  readonly isSupported: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Holding of an address, with the worth of the chain's coin. */
export interface Holding {
  /** Balance of the currency, in solid blocks. */
  readonly balance: Amount;
  /** Transfers that a sweep of that would list, see `whatToList`. */
  readonly items: readonly OpenItem[];
  /** Units of the currency per coin; null: unknown. */
  readonly coinRate: string | null;
}

/** A step that leaves the address alone. */
export function wait(reason: SweepReason, detail: string, pollMs: number): Wait {
  return { do: "wait", reason, detail, pollMs };
}
