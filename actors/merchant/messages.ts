/**
 * What a merchant actor can be asked. Clock, ids and outside checks are stamped into the message
 * when it is made and kept through every retry; settings are read by the journal with the batch.
 *
 * @module
 */

import type { Amount } from "../../ledger/amount.ts";
import type { WithdrawalFees } from "../../ledger/fees.ts";
import type { Currency, Network } from "../../ledger/pair.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import type { Refusal } from "./refusal.ts";

/** Reserve funds for a payout and hand it to the treasury. */
export interface Reserve {
  readonly type: "reserve";
  readonly at: number;
  readonly withdrawalId: string;
  readonly transactionId: string;
  readonly outgoingId: string;
  readonly chargeIds: readonly [string, string];
  readonly eventId: string;
  readonly currency: Currency;
  readonly network: Network;
  /** May be zero or negative: the merchant is told so by a refusal of its own. */
  readonly amount: Amount;
  readonly destination: string;
  /** What the network's address rules and our own address book say of the destination. */
  readonly destinationCheck: "ok" | "invalid" | "ours";
  readonly referenceId: string | null;
  readonly description: string | null;
  /** What the hot wallet can still pay, or null where the treasury has not looked yet. */
  readonly liquidity: Amount | null;
}

/** What the merchant is told of a new withdrawal. */
export interface Reserved {
  readonly withdrawalId: string;
  readonly status: "PENDING" | "PENDING_APPROVAL";
  readonly fees: WithdrawalFees;
}

/** Give a withdrawal's money back, if no transaction of it can exist. */
export interface Release {
  readonly type: "release";
  readonly at: number;
  readonly withdrawalId: string;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventId: string;
  /** Which states of the payout may be given up: `dead` only with the scan's proof behind it. */
  readonly from: "queued" | "dead";
}

/** Create or refresh the deposit address of an end customer. */
export interface IssueAddress {
  readonly type: "issue-address";
  readonly at: number;
  readonly network: Network;
  readonly identifier: string;
  readonly referenceId: string | null;
  /** Refuse when the identifier already has an address (`If-None-Match: *`). */
  readonly createOnly: boolean;
  /** A fresh address, already watched; left unused when the identifier has one. */
  readonly fresh: { readonly addressId: string; readonly address: string; readonly index: number };
}

/** The address the customer should pay to. */
export interface AddressIssued {
  readonly addressId: string;
  readonly address: string;
  readonly created: boolean;
}

/** Fields of the profile that this message changes; absent ones stay. */
export interface ProfilePatch {
  readonly webhookUrl?: string | null;
  readonly webhookEnabled?: boolean;
  readonly webhookEvents?: readonly string[] | null;
  readonly webhookTimeout?: number;
  readonly webhookRetryCount?: number;
  readonly successUrl?: string | null;
  readonly failureUrl?: string | null;
}

/** Change the merchant's own settings. */
export interface UpdateProfile {
  readonly type: "update-profile";
  readonly at: number;
  readonly patch: ProfilePatch;
}

/** Every command, with the answer it gets. */
export interface Answers {
  readonly "reserve": Reserved;
  readonly "release": { readonly status: "FAILED" };
  readonly "issue-address": AddressIssued;
  readonly "update-profile": Record<string, never>;
}

/** What a merchant actor can be asked. */
export type MerchantCommand = Reserve | Release | IssueAddress | UpdateProfile;

/** The merchants, as the API sees them. */
export interface Merchants {
  /**
   * Asks one merchant.
   *
   * @param timeoutMs how long the caller waits; a command not decided by then is withdrawn
   */
  ask<C extends MerchantCommand>(
    merchantId: string,
    command: C,
    timeoutMs: number,
  ): Promise<AskOutcome<Answers[C["type"]], Refusal>>;
}
