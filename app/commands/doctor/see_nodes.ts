import { familyOf, SERVED_NETWORKS } from "../../../chains/families.ts";
import { labelOf } from "../../../chains/nodes/node.ts";
import type { Network } from "../../../ledger/money/pair.ts";
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
      ...nodeUrls.map((url) => seeNode(network, "NODE_URLS", url, nodeApiKey?.reveal())),
      ...(treasury.proof?.nodeUrls ?? []).map((url) => seeNode(network, "PROOF_NODE_URLS", url)),
    ];
  });
  return await Promise.all(asked);
}

async function seeNode(
  network: Network,
  list: string,
  text: string,
  apiKey?: string,
): Promise<NodeFacts> {
  const url = new URL(text);
  const genesis = await look(
    BOUND_MS,
    (signal) =>
      familyOf(network).identityOf({ url: text, apiKey, requestTimeoutMs: BOUND_MS }, signal),
  );
  return {
    network,
    variable: `${network}_${list}`,
    label: labelOf(url),
    isEncrypted: url.protocol === "https:",
    isThisMachine: isThisMachine(url.hostname),
    genesis,
  };
}
