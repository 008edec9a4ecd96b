/**
 * What a node's answer to a broadcast means. The only place where these codes are read.
 *
 * The rule: nothing here ever says that a transaction is dead. A node can refuse a transaction
 * that another node has put into a block a moment ago, and an error can be answered after the
 * transaction was pooled. Death is proven by our own scan of solid blocks, after the expiry.
 *
 * Codes after `api.proto`, enum `Return.response_code`; what triggers them after java-tron's
 * `Wallet.broadcastTransaction`.
 *
 * @module
 */

import { z } from "zod";
import type { BroadcastOutcome } from "../chain.ts";
import type { NodeAnswer } from "./node.ts";
import { decodeNodeMessage } from "./node_message.ts";
import { wordsOf } from "./refusal_texts.ts";

type Verdict =
  | { readonly category: "known" }
  | { readonly category: "unclear" }
  | { readonly category: "rejected"; readonly retryable: boolean };

const VERDICTS: Readonly<Record<string, Verdict>> = {
  // The id is in the node's cache or on the chain: it had the transaction before.
  DUP_TRANSACTION_ERROR: { category: "known" },
  // Past the head's time, also for a transaction that made it into a block before.
  TRANSACTION_EXPIRATION_ERROR: { category: "unclear" },
  // Answered before the node looked at the transaction, so an earlier sending may have succeeded.
  SERVER_BUSY: { category: "unclear" },
  // Too few peers; the second one is also answered after the node pooled the transaction.
  NO_CONNECTION: { category: "unclear" },
  NOT_ENOUGH_EFFECTIVE_CONNECTION: { category: "unclear" },
  // The execution failed on this node, which says little about the block producer's execution.
  CONTRACT_EXE_ERROR: { category: "unclear" },
  OTHER_ERROR: { category: "unclear" },
  // Not pooled here. Funds, bandwidth, the reference block's arrival or finality may mend it,
  // within the lifetime of the same bytes.
  CONTRACT_VALIDATE_ERROR: { category: "rejected", retryable: true },
  BANDWITH_ERROR: { category: "rejected", retryable: true },
  TAPOS_ERROR: { category: "rejected", retryable: true },
  BLOCK_UNSOLIDIFIED: { category: "rejected", retryable: true },
  // Not pooled here, and the same bytes never will be.
  SIGERROR: { category: "rejected", retryable: false },
  TOO_BIG_TRANSACTION_ERROR: { category: "rejected", retryable: false },
};

const answerSchema = z.object({
  result: z.boolean().optional(),
  code: z.string().max(64).optional(),
  txid: z.string().max(64).optional(),
  message: z.string().max(4096).optional(),
  // how java-tron tells an exception
  Error: z.string().max(4096).optional(),
});

/** An outcome from which nothing follows. */
export function unclear(code: string, message = ""): BroadcastOutcome {
  return { category: "unclear", retryable: true, code, ...(message === "" ? {} : { message }) };
}

/** The answer's JSON, or `null` when it has none of the expected shape. */
function parse(text: string): z.infer<typeof answerSchema> | null {
  try {
    return answerSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * Classifies one node's answer.
 *
 * @param txid of the transaction that was offered
 */
export function classifyBroadcast(answer: NodeAnswer, txid: string): BroadcastOutcome {
  // Whatever stands in front of the node may fail after it has passed the request on.
  if (answer.status !== 200) return unclear(`HTTP_${answer.status}`, wordsOf(answer.text));
  const body = parse(answer.text);
  if (body === null) return unclear("MALFORMED", wordsOf(answer.text));
  const { result, code } = body;
  const message = decodeNodeMessage(body.message ?? body.Error ?? "");
  if (result === true) {
    if (code !== undefined && code !== "SUCCESS") return unclear(code, message);
    // An acceptance of something else is no acceptance of this.
    if (body.txid !== undefined && body.txid !== txid) return unclear("OTHER_TXID");
    return { category: "accepted", retryable: true };
  }
  const verdict = code === undefined ? undefined : VERDICTS[code];
  if (code === undefined || verdict === undefined) return unclear(code ?? "MALFORMED", message);
  switch (verdict.category) {
    case "known":
      return { ...unclear(code, message), category: "known", retryable: true, code };
    case "unclear":
      return unclear(code, message);
    case "rejected":
      return {
        category: "rejected",
        retryable: verdict.retryable,
        code,
        message,
      };
    default:
      return verdict satisfies never;
  }
}

const PRECEDENCE = { accepted: 0, known: 1, unclear: 2, rejected: 3 } as const;

/** Lower is the better news; among rejections one that may mend itself comes first. */
function rank(outcome: BroadcastOutcome): number {
  return PRECEDENCE[outcome.category] + (outcome.retryable ? 0 : 0.5);
}

/**
 * What several nodes' answers mean together: one acceptance is enough, and a doubt outweighs a
 * rejection, because the node in doubt may have passed the transaction on.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  return outcomes.toSorted((a, b) => rank(a) - rank(b))[0] ?? unclear("NO_NODE");
}
