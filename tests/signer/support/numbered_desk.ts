/**
 * A signer on paper of a chain whose senders number their transactions, or whose heights end them.
 *
 * @module
 */

import type { Envelope } from "../../../chains/chain.ts";
import type { Ending, Intent, SignAnswer, SignRequest, UsedNonce } from "../../../chains/signer.ts";
import { createSigner, type SignerOptions } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { amount } from "../../support/books.ts";
import { refusalOf } from "./desk.ts";

export const DAY_MS = 24 * 3_600_000;
export const START = 1_750_000_000_000;

export const PAYOUT: Omit<Intent, "outgoingId"> = {
  kind: "payout",
  network: "ETH",
  currency: "USDT",
  amount: amount("10"),
  destination: "stranger",
  destinationIndex: null,
  isDestinationClosed: false,
  wallet: "hot",
  payer: "hot",
  status: "queued",
  nonce: null,
  usedNonces: [],
};
export const SWEEP: Omit<Intent, "outgoingId"> = {
  ...PAYOUT,
  kind: "sweep",
  wallet: 1,
  destination: "own-hot",
};

export const NUMBERED: Ending = {
  by: "nonce",
  cancelFault: ({ fields }) =>
    fields.gas === undefined ? null : "it is none of a transfer of nothing",
  mostOf: ({ fields }) => amount(String(fields.fee)),
  cancelsPerDay: amount("10"),
  // paper bytes name what real ones prove
  signedBy: (bytes) => bytes === "" ? null : JSON.parse(bytes),
  cancel: ({ nonce, fields }, { address }) => ({
    txid: `cancel of ${address} ${nonce} at ${fields.fee}`,
    bytes: "{}",
    expiresAt: null,
  }),
};
export const BY_HEIGHT: Ending = { by: "height", settlesMs: 150_000 };

/** A signer on paper, its clock and what the database says of intents. */
export function open(ends: Ending, parts: Partial<SignerOptions> = {}) {
  const intents = new Map<string, Partial<Intent>>();
  /** Nonces that the database tells to be used. */
  const used: UsedNonce[] = [];
  const desk = { now: START, reads: 0 };
  const spending = new SpendingLimits({
    "USDT/ETH": { perDay: amount("100") },
    "native/ETH": { perTransaction: amount("1"), perDay: amount("10") },
  });
  const signer = createSigner({
    keys: {
      walletId: "wal_1",
      key: (_, wallet) => ({ address: `own-${wallet}`, privateKey: new Uint8Array(32) }),
      address: (_, wallet) => `own-${wallet}`,
      lock: () => {},
    },
    intents: {
      read: (ids) => {
        desk.reads++;
        return Promise.resolve(ids.flatMap((outgoingId) => {
          const changes = intents.get(outgoingId);
          return changes === undefined ? [] : [{ ...PAYOUT, ...changes, outgoingId }];
        }));
      },
      readUsed: (places) =>
        Promise.resolve(
          used.filter((one) =>
            places.some(({ payer, nonce }) => payer === one.payer && nonce === one.nonce)
          ),
        ),
    },
    builders: [{
      network: "ETH",
      ends,
      envelopeFault: () => null,
      intentFault: () => null,
      sign: (carried, { nonce, fields, expiresAt }, _, salt) => ({
        txid: `${carried.map(({ outgoingId }) => outgoingId)} ${nonce} at ${fields.fee} ${salt}`,
        bytes: "{}",
        expiresAt,
      }),
    }],
    spending,
    now: () => desk.now,
    ...parts,
  });
  const ask = async (
    ids: readonly string[],
    nonce: number | null,
    changes: Partial<SignRequest> & { readonly fee?: number; readonly gas?: number } = {},
  ): Promise<SignAnswer | undefined> => {
    const { fee = 1, gas, ...request } = changes;
    const end = nonce === null ? desk.now + 60_000 : null;
    const envelope: Envelope = {
      network: "ETH",
      fields: { fee, ...(gas === undefined ? {} : { gas }) },
      diesAfter: end,
      nonce,
      expiresAt: end,
    };
    const [answer] = await signer.sign([{
      outgoingIds: ids,
      purpose: "pay",
      envelope,
      ...request,
    }]);
    return answer;
  };
  /** Asks for each of some sets of intents whether they may be signed, all in one call, without a nonce. */
  const judge = async (...sets: readonly (readonly string[])[]): Promise<readonly string[]> => {
    const envelope = {
      network: "ETH",
      fields: {},
      diesAfter: null,
      nonce: null,
      expiresAt: null,
    } as const;
    const answers = await signer.sign(
      sets.map((outgoingIds) => ({ outgoingIds, envelope, purpose: "pay" })),
    );
    // that a nonce is missing is the last thing that is found
    return answers.map((answer) => {
      const refused = refusalOf(answer) ?? "signed";
      return refused.includes("has no nonce: null") ? "may be signed" : refused;
    });
  };
  return { intents, used, desk, spending, signer, ask, judge };
}

/** The transaction id of an answer. */
export function txidOf(answer: SignAnswer | undefined): string {
  if (answer !== undefined && "signed" in answer) return answer.signed.txid;
  throw new Error(`The signer refused: ${refusalOf(answer)}`);
}
