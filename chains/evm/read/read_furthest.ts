import type { FurthestBlock } from "../../chain.ts";
import { askAllNodes, furthestOf, type NewestBounds } from "../../nodes/furthest_block.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { wholeSchema } from "./answers.ts";
import { answerAt } from "./newest_heads.ts";
import { type EvmSource, rpc } from "./source.ts";

/**
 * Asks all nodes at once for the nonce of an address's next transaction by their newest blocks. Nonces only grow, so that the
 * highest one is what the newest of these blocks has.
 *
 * @throws {ChainUnavailable} when no node answers
 */
export async function readFurthest(
  source: EvmSource,
  address: string,
  bounds: NewestBounds,
  signal?: AbortSignal,
): Promise<FurthestBlock> {
  const call = { method: "eth_getTransactionCount", params: [address, "latest"] };
  const nonceOf = (node: ChainNode, bound: AbortSignal) => rpc.ask(node, call, wholeSchema, bound);
  const answers = await askAllNodes(
    source.pool,
    (node, bound) => answerAt(source, node, nonceOf, bound),
    signal,
  );
  const nonce = Math.max(...answers.map(({ answer }) => answer));
  return { ...furthestOf(answers.map(({ head }) => head), bounds), nonce };
}
