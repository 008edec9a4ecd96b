/**
 * A signature as the signer keeps it, in memory and in its files.
 *
 * @module
 */

import { z } from "zod";
import { type Network, NETWORKS } from "../../ledger/money/pair.ts";
import type { SignedTransaction } from "../chain.ts";
import type { Intent, SignPurpose } from "../signer.ts";

/** Until when a signature is to be remembered. */
export type SignatureEnd =
  /** Until a block of its network is past that time, Unix milliseconds. */
  | { readonly by: "time"; readonly at: number }
  /** Until the signer's clock is past that time, Unix milliseconds. */
  | { readonly by: "clock"; readonly at: number }
  /** As long as its intents live, and a while longer. */
  | {
    readonly by: "nonce";
    readonly payer: "hot" | number;
    readonly nonce: number;
    readonly purpose: SignPurpose;
  };

/** An intent with the details that a signature of it commits to. */
export interface CommittedIntent {
  readonly outgoingId: string;
  readonly details: string;
}

/** A signature, with what it commits to. */
export interface StoredSignature<End extends SignatureEnd = SignatureEnd> {
  readonly network: Network;
  /** In their order in the transaction. */
  readonly intents: readonly CommittedIntent[];
  readonly end: End;
  readonly signed: SignedTransaction;
}

/** The details a signature commits to. */
export function committed(intent: Intent): CommittedIntent {
  const { outgoingId, network, kind, currency, amount, destination, wallet } = intent;
  return {
    outgoingId,
    details: [network, kind, currency, amount, destination, wallet].join("|"),
  };
}

/** True where both are the same intents with the same details, in the same order. */
export function areSame(
  some: readonly CommittedIntent[],
  others: readonly CommittedIntent[],
): boolean {
  return some.length === others.length && some.every(({ outgoingId, details }, place) => {
    const other = others[place];
    return outgoingId === other?.outgoingId && details === other.details;
  });
}

const filled = z.string().min(1);
const moment = z.int().min(0);

/** Each line of version 1 is one batch of signatures, all of which end by time and pay one intent. */
const firstVersion = z.array(
  z.strictObject({
    outgoingId: filled,
    network: z.enum(NETWORKS),
    details: filled,
    signed: z.strictObject({ txid: filled, bytes: filled, expiresAt: moment }),
  }).transform(({ outgoingId, network, details, signed }): StoredSignature => ({
    network,
    intents: [{ outgoingId, details }],
    end: { by: "time", at: signed.expiresAt },
    signed,
  })),
).min(1);

const secondVersion = z.strictObject({
  version: z.literal(2),
  signatures: z.array(z.strictObject({
    network: z.enum(NETWORKS),
    intents: z.array(z.strictObject({ outgoingId: filled, details: filled })).min(1),
    end: z.discriminatedUnion("by", [
      z.strictObject({ by: z.literal("time"), at: moment }),
      z.strictObject({ by: z.literal("clock"), at: moment }),
      z.strictObject({
        by: z.literal("nonce"),
        payer: z.union([z.literal("hot"), z.int().min(0)]),
        nonce: moment,
        purpose: z.enum(["pay", "cancel"]),
      }),
    ]),
    signed: z.strictObject({ txid: filled, bytes: filled, expiresAt: moment.nullable() }),
  })).min(1),
}).transform(({ signatures }): readonly StoredSignature[] => signatures);

const lineSchema = z.union([firstVersion, secondVersion]);

/** A batch as one line of a file. */
export function lineOf(batch: readonly StoredSignature[]): string {
  return JSON.stringify({ version: 2, signatures: batch });
}

/** @throws when it is no line of either version */
export function signaturesOf(line: string): readonly StoredSignature[] {
  return lineSchema.parse(JSON.parse(line));
}
