/**
 * Offers signed bytes to nodes and classifies their answers. The only place where these codes are read.
 *
 * The rule: nothing here ever says that a transaction is dead. A node can refuse a transaction
 * that another node has put into a block a moment ago, and an error can be answered after the
 * transaction was pooled. Death is proven by our own scan of solid blocks, after the expiry.
 *
 * Codes after `api.proto`, enum `Return.response_code`; their causes after java-tron's
 * `Wallet.broadcastTransaction`.
 *
 * @module
 */

import { z } from "zod";
import type { BroadcastOutcome, SignedTransaction } from "../../chain.ts";
import type { ChainNode, NodeAnswer } from "../../nodes/node.ts";
import { type Offers, unclear } from "../../nodes/offers.ts";

/** Meaning of each code; `again` and `never` are rejections that the same bytes may outlive, or not. */
const MEANINGS: Readonly<Record<string, "known" | "unclear" | "again" | "never">> = {
  // The id is in the node's cache or on the chain: it had the transaction before.
  DUP_TRANSACTION_ERROR: "known",
  // Past the head's time, also for a transaction that made it into a block before.
  TRANSACTION_EXPIRATION_ERROR: "unclear",
  // Answered before the node looked at the transaction, so an earlier sending may have succeeded.
  SERVER_BUSY: "unclear",
  // Too few peers; the second one is also answered after the node pooled the transaction.
  NO_CONNECTION: "unclear",
  NOT_ENOUGH_EFFECTIVE_CONNECTION: "unclear",
  // The execution failed on this node, which says little about the block producer's execution.
  CONTRACT_EXE_ERROR: "unclear",
  OTHER_ERROR: "unclear",
  // Not pooled here. Funds, bandwidth, the reference block's arrival or finality may mend it,
  // within the lifetime of the same bytes.
  CONTRACT_VALIDATE_ERROR: "again",
  BANDWITH_ERROR: "again",
  TAPOS_ERROR: "again",
  BLOCK_UNSOLIDIFIED: "again",
  // Not pooled here, and the same bytes never will be.
  SIGERROR: "never",
  TOO_BIG_TRANSACTION_ERROR: "never",
};

const answerSchema = z.object({
  result: z.boolean().optional(),
  code: z.string().max(64).optional(),
  txid: z.string().max(64).optional(),
  message: z.string().max(4096).optional(),
  // java-tron answers an exception so
  Error: z.string().max(4096).optional(),
});

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
 * @param node that gave it
 * @param txid of the transaction that was offered
 */
export function classifyBroadcast(
  node: Pick<ChainNode, "wordsOf">,
  answer: NodeAnswer,
  txid: string,
): BroadcastOutcome {
  // A proxy in front of the node may fail after it has passed the request on.
  if (answer.status !== 200) return unclear(`HTTP_${answer.status}`, node.wordsOf(answer.text));
  const body = parse(answer.text);
  if (body === null) return unclear("MALFORMED", node.wordsOf(answer.text));
  const { result, code } = body;
  const message = node.wordsOf(body.message ?? body.Error ?? "");
  if (result === true) {
    if (code !== undefined && code !== "SUCCESS") return unclear(code, message);
    // An acceptance of something else is no acceptance of this.
    if (body.txid !== undefined && body.txid !== txid) return unclear("OTHER_TXID");
    return { category: "accepted", retryable: true };
  }
  const meaning = code === undefined ? undefined : MEANINGS[code];
  if (code === undefined || meaning === undefined || meaning === "unclear") {
    return unclear(code ?? "MALFORMED", message);
  }
  if (meaning === "known") {
    return { ...unclear(code, message), category: "known", retryable: true, code };
  }
  return { category: "rejected", retryable: meaning === "again", code, message };
}

const signedTextSchema = z.object({ txID: z.string() });

/**
 * Offers the bytes to all nodes at once; see {@linkcode Offers.toAll}.
 *
 * @throws {Error} when the bytes are not of that transaction: a stored row was mixed up
 */
export async function broadcastToAll(
  offers: Offers,
  signed: SignedTransaction,
  signal?: AbortSignal,
): Promise<BroadcastOutcome> {
  requireOwnBytes(signed);
  return await offers.toAll(async (node, bound) => {
    const answer = await node.post("/wallet/broadcasttransaction", signed.bytes, bound);
    return classifyBroadcast(node, answer, signed.txid);
  }, signal);
}

function requireOwnBytes(signed: SignedTransaction): void {
  const { txID } = signedTextSchema.parse(JSON.parse(signed.bytes));
  if (txID === signed.txid) return;
  throw new Error(`Cannot broadcast ${signed.txid} as its bytes are of another: ${txID}`);
}
