import type { Chain } from "../../chains/chain.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import type { Config } from "../config/config.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { probeDevNode } from "../development/dev_node.ts";
import { contractsOf, TRON_NETWORKS } from "./open_chains.ts";
import { readCredentials } from "../development/read_credentials.ts";

/**
 * The networks of the service, for a command that only reads. A development chain that runs inside
 * the service is found through the credentials file; nothing is started and nothing is funded.
 */
export async function chainsToRead(config: Config): Promise<ReadonlyMap<Network, Chain>> {
  const credentials = config.environment === "development"
    ? await readCredentials(config.dataDir)
    : null;
  const wallet = await openPublicWallet(config.walletFile ?? `${config.dataDir}/wallet.json`);
  const chains = new Map<Network, Chain>();
  for (const network of TRON_NETWORKS) {
    const settings = config.networks[network];
    const account = wallet.networks[network];
    const embedded = credentials?.chains[network]?.url;
    const nodeUrls = settings.nodeUrls.length > 0 || embedded === undefined
      ? settings.nodeUrls
      : [embedded];
    if (account === undefined || nodeUrls.length === 0) continue;
    const apiKey = settings.nodeApiKey?.reveal();
    chains.set(
      network,
      createTronChain({
        network,
        nodeUrls,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(settings.callsPerSecond === null ? {} : { callsPerSecond: settings.callsPerSecond }),
        contracts: contractsOf(config, network, await probeDevNode(nodeUrls[0] ?? "")),
        depositXpub: account.depositXpub,
        hotWallet: account.hotWallet,
      }),
    );
  }
  return chains;
}
