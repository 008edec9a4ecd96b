import { getLogger } from "@logtape/logtape";
import type { Chain } from "../chains/chain.ts";
import { startDevChainInWorker } from "../chains/dev/in_worker.ts";
import type { SignerNetwork } from "../chains/signer/worker_protocol.ts";
import { PUBLIC_CONTRACTS, type TokenContracts } from "../chains/tron/token_contracts.ts";
import { createTronChain } from "../chains/tron/tron_chain.ts";
import type { PublicWallet } from "../chains/wallet/public_wallet.ts";
import type { Config } from "../config.ts";
import type { Network } from "../ledger/pair.ts";
import { type DevNode, fundHotWallet, probeDevNode } from "./dev_node.ts";
import { keep, readKept } from "./kept_file.ts";

const log = getLogger(["engine", "setup"]);

/** Networks whose adapter exists. */
export const TRON_NETWORKS = ["TRX", "TRX_SHASTA"] as const satisfies readonly Network[];

/** Lifetime of our transactions in block time: short enough to prove death soon. */
const LIFETIME_MS = 5 * 60_000;
const DEV_LIFETIME_MS = 30_000;
/** The most one transaction may burn, in sun: 150 TRX. */
const FEE_LIMIT_SUN = 150_000_000;
/** How far block time may be from ours before the signer refuses: a node that lies or hangs. */
const CLOCK_TOLERANCE_MS = 10 * 60_000;

/** The chains of this node. */
export interface Chains {
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signerNetworks: readonly SignerNetwork[];
  /** Development nodes, by network; empty outside development. */
  readonly devNodes: ReadonlyMap<Network, DevNode>;
  /** Stops what runs inside this process. */
  close(): Promise<void>;
}

/**
 * Opens every configured network; in development the TRON networks without nodes get a development
 * chain of their own.
 *
 * @throws when a development chain is configured outside development, or a token's decimals differ
 */
export async function openChains(config: Config, wallet: PublicWallet): Promise<Chains> {
  const chains = new Map<Network, Chain>();
  const devNodes = new Map<Network, DevNode>();
  const signerNetworks: SignerNetwork[] = [];
  const stops: (() => Promise<void>)[] = [];
  for (const network of TRON_NETWORKS) {
    const account = wallet.networks[network];
    const settings = config.networks[network];
    let nodeUrls = settings.nodeUrls;
    if (nodeUrls.length === 0) {
      if (config.environment !== "development") continue;
      const embedded = await startEmbedded(config, network, account?.hotWallet);
      stops.push(embedded.stop);
      nodeUrls = [embedded.url];
    }
    if (account === undefined) {
      throw new Error(`Cannot open a network as the wallet has no account for it: ${network}`);
    }
    const dev = await probeDevNode(nodeUrls[0] ?? "");
    if (dev !== null && config.environment !== "development") {
      throw new Error(
        `Cannot use a development chain outside development: ${network}_NODE_URLS`,
      );
    }
    const contracts = contractsOf(config, network, dev);
    const lifetimeMs = dev === null ? LIFETIME_MS : DEV_LIFETIME_MS;
    const apiKey = settings.nodeApiKey?.reveal();
    const chain = createTronChain({
      network,
      nodeUrls,
      ...(apiKey === undefined ? {} : { apiKey }),
      contracts,
      xpub: account.xpub,
      hotWallet: account.hotWallet,
      lifetimeMs,
      highestFeeLimitSun: FEE_LIMIT_SUN,
    });
    if (dev !== null) {
      devNodes.set(network, dev);
      await fundHotWallet(dev, chain, `${config.dataDir}/dev-chain-${network}.funded`);
    }
    await chain.verify();
    chains.set(network, chain);
    signerNetworks.push({
      network,
      contracts,
      longestLifetimeMs: lifetimeMs,
      highestFeeLimitSun: FEE_LIMIT_SUN,
      clockToleranceMs: dev === null ? CLOCK_TOLERANCE_MS : null,
    });
  }
  return {
    chains,
    signerNetworks,
    devNodes,
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

function contractsOf(config: Config, network: Network, dev: DevNode | null): TokenContracts {
  const { USDT, USDC } = config.networks[network].contracts;
  const known: TokenContracts = network === "TRX" || network === "TRX_SHASTA"
    ? PUBLIC_CONTRACTS[network]
    : {};
  const usdt = USDT ?? dev?.usdt ?? known.USDT;
  return {
    ...(usdt === undefined ? {} : { USDT: usdt }),
    ...(USDC === null ? {} : { USDC }),
  };
}

/** Starts a development chain in this process, on the port it had before where that is free. */
async function startEmbedded(
  config: Config,
  network: Network,
  treasury: string | undefined,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const portFile = `${config.dataDir}/dev-chain-${network}.port`;
  const kept = Number(await readKept(portFile) ?? "0");
  const start = (port: number) =>
    startDevChainInWorker({
      network,
      dataDir: config.dataDir,
      port,
      blockMs: config.devChain.blockMs,
      solidLag: config.devChain.solidLag,
      ...(treasury === undefined ? {} : { treasury }),
    }, (reason) => log.error("{network}: {reason}", { network, reason }));
  let chain;
  try {
    chain = await start(kept);
  } catch (error) {
    if (kept === 0) throw error;
    log.warn("{network}: the development chain's port is taken, choosing another: {error}", {
      network,
      error,
    });
    chain = await start(0);
  }
  if (chain.port !== kept) await keep(portFile, String(chain.port));
  return { url: chain.url, stop: () => chain.stop() };
}
