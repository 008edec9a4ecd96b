import { ChainIdentity } from "../../../chains/nodes/believed_nodes.ts";
import { ChainNode } from "../../../chains/nodes/node.ts";
import { API_KEY_HEADER } from "../../../chains/tron/tron_chain.ts";
import { tronBlockAt } from "../../../chains/tron/read/read_blocks.ts";
import { type Network, SERVED_NETWORKS } from "../../../ledger/money/pair.ts";
import type { Config } from "../../config/config.ts";
import { isThisMachine } from "../../config/treasury.ts";
import { look, type NodeFacts } from "./facts.ts";

/** Bound of the question to each node, milliseconds. */
const BOUND_MS = 6_000;

/** Asks every configured node of every network for its first block, all at once. */
export async function seeNodes(config: Config): Promise<readonly NodeFacts[]> {
  const asked = SERVED_NETWORKS.flatMap((network) => {
    const { nodeUrls, nodeApiKey, treasury } = config.networks[network];
    return [
      ...nodeUrls.map((url) => seeNode(network, "NODE_URLS", url, nodeApiKey?.reveal() ?? null)),
      ...(treasury.proof?.nodeUrls ?? []).map((url) =>
        seeNode(network, "PROOF_NODE_URLS", url, null)
      ),
    ];
  });
  return await Promise.all(asked);
}

async function seeNode(
  network: Network,
  list: string,
  text: string,
  apiKey: string | null,
): Promise<NodeFacts> {
  const url = new URL(text);
  const genesis = await look(BOUND_MS, async (signal) => {
    const identity = new ChainIdentity(tronBlockAt);
    await identity.require(
      new ChainNode({
        url: text,
        requestTimeoutMs: BOUND_MS,
        ...(apiKey === null ? {} : { apiKey: { header: API_KEY_HEADER, value: apiKey } }),
      }),
      signal,
    );
    return identity.genesis;
  });
  return {
    network,
    variable: `${network}_${list}`,
    label: url.host,
    isEncrypted: url.protocol === "https:",
    isThisMachine: isThisMachine(url.hostname),
    genesis,
  };
}
