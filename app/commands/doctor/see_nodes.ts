import { familyOf, SERVED_NETWORKS } from "../../../chains/families.ts";
import { labelOf } from "../../../chains/nodes/node.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { Config } from "../../config/config.ts";
import { isThisMachine } from "../../config/treasury.ts";
import { rehearses } from "../../open/open_chains.ts";
import { look, type NodeFacts } from "./facts.ts";

/** Bound of the question to each node, milliseconds. */
const BOUND_MS = 6_000;

/** Asks every configured node of every network for its first block, all at once. */
export async function seeNodes(config: Config): Promise<readonly NodeFacts[]> {
  const asked = SERVED_NETWORKS.flatMap((network) => {
    const { nodeUrls, nodeApiKey, treasury } = config.networks[network];
    return [
      ...nodeUrls.map((url) => seeNode(config, network, "NODE_URLS", url, nodeApiKey?.reveal())),
      ...(treasury.proof?.nodeUrls ?? [])
        .map((url) => seeNode(config, network, "PROOF_NODE_URLS", url)),
    ];
  });
  return await Promise.all(asked);
}

async function seeNode(
  config: Config,
  network: Network,
  list: string,
  text: string,
  apiKey?: string,
): Promise<NodeFacts> {
  const url = new URL(text);
  const node = { url: text, apiKey, requestTimeoutMs: BOUND_MS };
  const family = familyOf(network);
  const chain = { network, isDevelopment: rehearses(config, network) };
  const [genesis, isNumbered] = await Promise.all([
    look(BOUND_MS, (signal) => family.identityOf(node, signal)),
    look(BOUND_MS, async (signal) => await family.isOf?.(node, chain, signal) ?? true),
  ]);
  return {
    network,
    variable: `${network}_${list}`,
    label: labelOf(url),
    isEncrypted: url.protocol === "https:",
    isThisMachine: isThisMachine(url.hostname),
    genesis,
    isNumbered,
  };
}
