import type { FurthestBlock } from "../../chain.ts";
import { furthestOf, type NewestBounds, OTHERS_MS } from "../../nodes/furthest_block.ts";
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
  const { pool } = source;
  const call = { method: "eth_getTransactionCount", params: [address, "latest"] };
  const answers = await pool.readSeveral(
    (node, bound) =>
      answerAt(source, node, (node, bound) => rpc.ask(node, call, wholeSchema, bound), bound),
    { signal, most: pool.nodes.length, othersMs: OTHERS_MS },
  );
  const nonce = Math.max(...answers.map(({ answer }) => answer));
  return { ...furthestOf(answers.map(({ head }) => head), bounds), nonce };
}
