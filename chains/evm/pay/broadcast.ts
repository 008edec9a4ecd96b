/**
 * Offers signed bytes to nodes and classifies their answers. The only place where their words are read.
 *
 * The rule: nothing here ever says that a transaction is dead. Its nonce may have been used by itself a
 * moment ago, and an error can be answered by one node after another has put it into a block. What ends it
 * is a solid block with a transaction of its nonce, read by our own scan.
 *
 * Words after go-ethereum's `core/txpool/errors.go`, `core/error.go` and `core/txpool/legacypool`, which
 * BNB Smart Chain shares, and after those of erigon, nethermind, reth and besu where they differ.
 *
 * @module
 */

import { keccak256 } from "viem/utils";
import { z } from "zod";
import type { BroadcastOutcome, SignedTransaction } from "../../chain.ts";
import type { ChainNode, NodeAnswer } from "../../nodes/node.ts";
import { type Offers, unclear } from "../../nodes/offers.ts";

/** Meaning of a text; `again` and `never` are rejections that the same bytes may outlive, or not. */
type Meaning = "known" | "unclear" | "again" | "never";

/** The first row whose words are in a message counts; words are lower case. */
const WORDS: readonly (readonly [RegExp, string, Meaning])[] = [
  [
    /\b(already (known|imported|exists|in mempool)|alreadyknown|known transaction)\b/,
    "KNOWN",
    "known",
  ],
  // ours may be what used it
  [/nonce[ _]?too[ _]?low|oldnonce|invalid nonce|nonce is too low/, "NONCE_TOO_LOW", "unclear"],
  // an attempt with this nonce is there already
  [
    /replacement transaction underpriced|replacement ?not ?allowed|replace(ment)? .*underpriced/,
    "REPLACEMENT",
    "unclear",
  ],
  [/future transaction tries to replace pending/, "REPLACEMENT", "unclear"],
  [/insufficient (funds|balance)|insufficientfunds|upfront cost exceeds/, "NO_COIN", "again"],
  [
    /max fee per gas less than block base fee|fee ?cap ?(too )?(low|less)|gas price (is )?below/,
    "FEE_TOO_LOW",
    "again",
  ],
  [
    /transaction underpriced|feetoolow|underpriced|tip (above|higher than) fee ?cap|max priority fee .* (greater|higher)/,
    "FEE_TOO_LOW",
    "again",
  ],
  [
    /txpool is full|transaction pool is full|mempool is full|queue is full|pool.*(limit|capacity)/,
    "POOL_FULL",
    "again",
  ],
  [
    /in-flight transaction limit|gapped[- ]nonce|nonce too (high|far)|nonce gap|nonce is distant/,
    "NOT_NOW",
    "again",
  ],
  [/authority already reserved|account has authorization|delegated account/, "NOT_NOW", "again"],
  [/tx fee .* exceeds the configured cap/, "NODE_FEE_CAP", "again"],
  [
    /intrinsic gas (too low|exceeds)|intrinsicgas|exceeds block gas limit|gas limit (too high|reached)/,
    "GAS",
    "never",
  ],
  [
    /invalid (sender|signature)|oversized data|transaction type not supported|invalid transaction type/,
    "INVALID",
    "never",
  ],
  [/chain ?id|not eip-?155|replay-protected/, "CHAIN_ID", "never"],
];

const answerSchema = z.object({
  result: z.string().max(128).optional(),
  error: z.object({
    code: z.number().optional(),
    message: z.string().max(4096).optional(),
  }).optional(),
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
  const body = parse(answer.text);
  // some nodes answer an error of the call with a status of HTTP; a gateway's has no such body
  if (body === null || (answer.status !== 200 && body.error?.message === undefined)) {
    const code = answer.status === 200 ? "MALFORMED" : `HTTP_${answer.status}`;
    return unclear(code, node.wordsOf(answer.text));
  }
  if (body.error === undefined) {
    if (body.result === undefined) return unclear("MALFORMED", node.wordsOf(answer.text));
    // an acceptance of something else is no acceptance of this
    if (body.result.toLowerCase() !== txid) return unclear("OTHER_TXID");
    return { category: "accepted", retryable: true };
  }
  const message = node.wordsOf(body.error.message ?? "");
  const words = message.toLowerCase();
  const [, code, meaning] = WORDS.find(([pattern]) => pattern.test(words)) ??
    [null, `RPC_${body.error.code ?? "ERROR"}`, "unclear" as const];
  switch (meaning) {
    case "known":
      return { ...unclear(code, message), category: "known", retryable: true, code };
    case "unclear":
      return unclear(code, message);
    case "again":
    case "never":
      return { category: "rejected", retryable: meaning === "again", code, message };
    default:
      return meaning satisfies never;
  }
}

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
  const { txid, bytes } = signed;
  const own = keccak256(bytes as `0x${string}`);
  if (own !== txid) throw new Error(`Cannot broadcast ${txid} as its bytes are of another: ${own}`);
  const name = "eth_sendRawTransaction";
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: [bytes] });
  return await offers.toAll(
    async (node, bound) =>
      classifyBroadcast(node, await node.post("", body, bound, { name }), txid),
    signal,
  );
}
