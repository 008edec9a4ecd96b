/**
 * Signatures with promised nonces: asked of the signer, judged, and committed before anything is sent.
 *
 * @module
 */

import type { BlockRef, Chain, SignedTransaction } from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import type { SignAnswer, Signer } from "../../chains/signer.ts";
import { commitAttempts, type LaneSignature } from "../../ledger/lanes/commit_attempts.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { shareOf } from "../../ledger/money/shares.ts";
import type { SigningTurn } from "../../ledger/treasury/pull_queued.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { crashPoint, type CrashPointName } from "../runtime/crash_point.ts";
import { logEvent } from "../../log/log_event.ts";
import { commitApart } from "./commit_apart.ts";
import { mostOf } from "./prices.ts";
import { isClosed, termsOf } from "./signed_rows.ts";

/** A transaction that is to be signed with a nonce. */
export interface NumberedRequest {
  /** `hot`, or a derivation index. */
  readonly payer: string;
  readonly nonce: number;
  /** The transfers that the nonce is promised to, by id. */
  readonly intents: readonly { readonly outgoingId: string; readonly merchantId: string }[];
  readonly purpose: "pay" | "cancel";
  readonly fee: FeeEstimate;
}

/** A transaction that was not signed. */
export interface NonceRefusal {
  readonly request: NumberedRequest;
  /** As the operator sees it. */
  readonly reason: string;
  /** True where the signer signs nothing at all at the moment. */
  readonly isShared: boolean;
}

/** A transaction that is committed, and to be sent. */
export interface NumberedTransaction extends Omit<SignedTransaction, "expiresAt"> {
  readonly request: NumberedRequest;
}

/** Result of a round. */
export interface SignedNonces {
  /** The turn as the commits have left it; null: it was lost, and nothing else is committed. */
  readonly turn: SigningTurn | null;
  readonly transactions: readonly NumberedTransaction[];
  readonly refused: readonly NonceRefusal[];
}

/**
 * Signs transactions with their nonces and commits the signatures. A signature that does not have the nonce that was
 * asked for, or another's bytes, is forgotten.
 *
 * @param solid the block that their envelopes stand on
 * @param after where the process may die once the signer has answered
 * @throws when the signer or the database does not answer; what was committed is found among the open nonces
 */
export async function signNonces(
  chain: Pick<Chain, "network" | "envelope" | "termsOf" | "transactionId">,
  { sql, signer }: { readonly sql: Sql; readonly signer: Signer },
  turn: SigningTurn,
  solid: BlockRef,
  requests: readonly NumberedRequest[],
  after: CrashPointName,
): Promise<SignedNonces> {
  if (requests.length === 0) return { turn, transactions: [], refused: [] };
  const answers = await signer.sign(requests.map(({ intents, fee, nonce, purpose }) => ({
    outgoingIds: intents.map(({ outgoingId }) => outgoingId),
    envelope: chain.envelope(solid, fee, nonce),
    purpose,
  })));
  crashPoint(after);
  const transactions: NumberedTransaction[] = [];
  const refused: NonceRefusal[] = [];
  requests.forEach((request, place) => {
    const answer = answers[place];
    const fault = faultOf(chain, request, answer, solid.height);
    if (fault === null && answer !== undefined && "signed" in answer) {
      transactions.push({ request, txid: answer.signed.txid, bytes: answer.signed.bytes });
    } else {
      const isShared = answer !== undefined && "refused" in answer &&
        (isClosed(answer.refused) || answer.refused === "paused");
      refused.push({ request, reason: fault ?? "the signer did not answer for it", isShared });
    }
  });
  const commit = (parts: readonly NumberedTransaction[], left: SigningTurn) =>
    commitAttempts(sql, parts.flatMap(signaturesOf), left);
  const apart = await commitApart(transactions, turn, commit, ({ request }, reason) => {
    refused.push({ request, reason, isShared: false });
  });
  if (apart.turn === null) {
    logEvent("treasury.not_signed", { network: chain.network, count: transactions.length });
  }
  const committed = new Set(apart.done.flatMap((txids) => [...txids]));
  return {
    turn: apart.turn,
    transactions: transactions.filter(({ txid }) => committed.has(txid)),
    refused,
  };
}

/** Reason for which an answer cannot be used; null: it can. */
function faultOf(
  chain: Pick<Chain, "termsOf" | "transactionId">,
  { intents, nonce }: NumberedRequest,
  answer: SignAnswer | undefined,
  near: number,
): string | null {
  if (answer === undefined) return "the signer did not answer for it";
  if ("refused" in answer) return `signer: ${answer.refused}: ${answer.message}`;
  const asked = intents.map(({ outgoingId }) => outgoingId);
  if (answer.outgoingIds.join() !== asked.join()) return "the signer answered for other transfers";
  const { txid, bytes } = answer.signed;
  if (chain.transactionId(txid) !== txid) return `it is no transaction id: ${txid}`;
  const terms = termsOf(chain, bytes, near);
  if (terms?.nonce !== nonce) return `the signer's answer has another nonce: ${terms?.nonce}`;
  return null;
}

/** The rows of a transaction: one for each transfer, with its share of what it may cost the hot wallet. */
function signaturesOf({ request, txid, bytes }: NumberedTransaction): readonly LaneSignature[] {
  const { intents, fee, nonce, payer, purpose } = request;
  const most = payer === "hot" ? mostOf(fee) : ZERO;
  return intents.map(({ outgoingId, merchantId }, place) => ({
    outgoingId,
    merchantId,
    txid,
    bytes,
    nonce,
    purpose,
    feeLimit: shareOf(most, place, intents.length),
  }));
}
