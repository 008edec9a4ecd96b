import type { FurthestBlock } from "../../chain.ts";
import { askAllNodes, furthestOf, type NewestBounds } from "../../nodes/furthest_block.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { wholeSchema } from "./answers.ts";
import { stateOf } from "./contract_call.ts";
import { type AnswerAt, answerAt } from "./newest_heads.ts";
import { type EvmSource, rpc } from "./source.ts";

/** Time after which a node that is so slow is not asked a second time: callers give up after five seconds. */
const QUICK_MS = 1_500;

/**
 * Asks all nodes at once for the nonce of an address's next transaction by their newest blocks. Nonces only grow, so that the
 * highest one is what the newest of these blocks has. Of two nodes behind one address one can name the block and another, which is
 * behind, the nonce: it is asked for by that block's hash as well, unless the node is slow.
 *
 * @throws {ChainUnavailable} when no node answers
 */
export async function readFurthest(
  source: EvmSource,
  address: string,
  bounds: NewestBounds,
  signal?: AbortSignal,
): Promise<FurthestBlock> {
  const nonceAt = (state: string | ReturnType<typeof stateOf>) => {
    const call = { method: "eth_getTransactionCount", params: [address, state] };
    return (node: ChainNode, bound: AbortSignal) => rpc.ask(node, call, wholeSchema, bound);
  };
  const ask = async (node: ChainNode, bound: AbortSignal): Promise<AnswerAt<number>> => {
    const since = performance.now();
    const { head, answer } = await answerAt(source, node, nonceAt("latest"), bound);
    if (performance.now() - since > QUICK_MS) return { head, answer };
    return { head, answer: Math.max(answer, await nonceAt(stateOf(head.hash))(node, bound)) };
  };
  const answers = await askAllNodes(source.pool, ask, signal);
  const nonce = Math.max(...answers.map(({ answer }) => answer));
  return { ...furthestOf(answers.map(({ head }) => head), bounds), nonce };
}
