import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable, WrongDecimals } from "../../chains/chain.ts";
import { familyOf, SERVED_NETWORKS } from "../../chains/families.ts";
import { DevelopmentMissing, type OpenChain, type SignerNetwork } from "../../chains/family.ts";
import { PROFILES, type TokenContracts } from "../../chains/profiles.ts";
import type { NetworkNodes } from "../../chains/node_state.ts";
import { labelOf } from "../../chains/nodes/node.ts";
import { verifiedFirst } from "../../chains/verified_chain.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import { openPublicWallet, type PublicWallet } from "../../chains/wallet/public_wallet.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Config } from "../config/config.ts";
import { readCredentials } from "../development/demo_accounts.ts";
import { type DevNode, fundHotWallet, probeDevNode } from "../development/dev_node.ts";
import { WorkerUnavailable } from "../workers/worker_client.ts";
import { startDevChainInWorker } from "../workers/worker_dev_chain.ts";
import { readStored, store } from "./data_folder.ts";

/** The chains of this node. */
export interface Chains {
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signerNetworks: readonly SignerNetwork[];
  /** The nodes that are asked, by network. */
  readonly nodes: ReadonlyMap<Network, NetworkNodes>;
  /** Development nodes, by network; empty outside development. */
  readonly devNodes: ReadonlyMap<Network, DevNode>;
  /** Stops what runs inside this process. */
  close(): Promise<void>;
}

/** One open network, and what else has to know of it. */
interface OpenNetwork {
  readonly chain: Chain;
  readonly nodes: NetworkNodes;
  readonly dev: DevNode | null;
  readonly signerNetwork: SignerNetwork;
  readonly stop: (() => Promise<void>) | null;
}

/** Nodes that this installation must not use; the message is one line for the person who started it. */
export class UnusableChain extends Error {
  override readonly name = "UnusableChain";
}

/**
 * Opens every configured network; in development those of `DEV_CHAINS` that have no nodes get a development
 * chain of their own. A network whose nodes do not answer now is open as well: it is checked before
 * its first use, and its absence is seen in the service's health.
 *
 * @throws {UnusableChain} when a development chain is configured outside development or cannot be
 *   started, or the wallet has no account of a network
 * @throws {WrongDecimals} when a token's decimals differ
 */
export async function openChains(
  config: Config,
  wallet: PublicWallet,
): Promise<Chains> {
  const results = await Promise.allSettled(
    openedNetworks(config).map((network) => openNetwork(config, wallet, network)),
  );
  const open = results.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  const close = async () => {
    await Promise.all(open.map(({ stop }) => stop?.()));
  };
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  return {
    chains: new Map(open.map(({ chain }) => [chain.network, chain])),
    signerNetworks: open.map(({ signerNetwork }) => signerNetwork),
    nodes: new Map(open.map(({ chain, nodes }) => [chain.network, nodes])),
    devNodes: new Map(
      open.flatMap(({ chain, dev }) => dev === null ? [] : [[chain.network, dev]]),
    ),
    close,
  };
}

/** True where a test network may be a development chain although the rules are those of production. */
export function rehearses(
  { environment, isRehearsal }: Pick<Config, "environment" | "isRehearsal">,
  network: Network,
): boolean {
  return environment === "staging" && isRehearsal && PROFILES[network].names.isTest;
}

/** The networks that are opened: those with nodes, and in development those with a development chain. */
export function openedNetworks(
  { environment, networks, devChain }: Pick<Config, "environment" | "networks" | "devChain">,
): readonly Network[] {
  return SERVED_NETWORKS.filter((network) =>
    networks[network].nodeUrls.length > 0 ||
    (environment === "development" && devChain.networks.includes(network))
  );
}

async function openNetwork(
  config: Config,
  wallet: PublicWallet,
  network: Network,
): Promise<OpenNetwork> {
  const account = wallet.networks[network];
  const settings = config.networks[network];
  const embedded = settings.nodeUrls.length === 0;
  if (account === undefined) {
    throw new UnusableChain(
      `Cannot open a network as the wallet has no account for it: ${network}`,
    );
  }
  const family = familyOf(network);
  const starting = embedded
    ? startEmbedded(config, network, account.hotWallet)
    : Promise.resolve(null);
  // the adapter is loaded while the chain starts
  const [own] = await Promise.all([starting, family.load()]);
  try {
    const nodeUrls = own === null ? settings.nodeUrls : [own.url];
    // a rehearsal treats a development chain as it treats any node
    const isRehearsal = rehearses(config, network);
    const probing = isRehearsal ? Promise.resolve(null) : probeDevNode(nodeUrls[0] ?? "");
    // elsewhere it is only refused, which does not hold up the first look at the network
    const dev = config.environment === "development" ? await probing : null;
    const contracts = contractsOf(config, network, dev);
    if (settings.nodeApiKey !== null) tellSharedKey(network, nodeUrls);
    const isDevelopment = dev !== null;
    const feeCap = amountOf(settings.treasury.feeCap);
    const sweepBy = settings.sweeps.by ?? undefined;
    const open = await family.open({
      network,
      nodeUrls,
      apiKey: settings.nodeApiKey?.reveal(),
      contracts,
      blockMs: blockMsOf(config, network, isDevelopment),
      deposits: publicAddresses(network, account),
      hotWallet: account.hotWallet,
      dailyCalls: settings.dailyCalls ?? undefined,
      callsPerSecond: settings.callsPerSecond ?? undefined,
      receiptTypes: settings.receiptTypes,
      isDevelopment,
      isRehearsal,
      making: { feeCap, sweepBy, sweepsAtOnce: settings.sweeps.batch },
    });
    // a development chain behind a proxy looks like any other node, but for its first block
    if (config.environment !== "development" && !isRehearsal) {
      open.nodes.expect(PROFILES[network].identity);
    }
    // an embedded chain has funded the hot wallet in its first block
    if (dev !== null && own === null) {
      await fundHotWallet(dev, open, `${config.dataDir}/dev-chain-${network}.funded`);
    }
    const [chain] = await Promise.all([checked(open), refuseDevelopment(config, network, probing)]);
    return {
      chain,
      nodes: open.nodes,
      dev,
      signerNetwork: { network, contracts, feeCap, isDevelopment, isRehearsal, sweepBy },
      stop: own?.stop ?? null,
    };
  } catch (error) {
    await own?.stop();
    throw error;
  }
}

/** A key that goes to several providers is known to all of them: told, as the nodes may be one provider's. */
function tellSharedKey(network: Network, nodeUrls: readonly string[]): void {
  const urls = nodeUrls.map((url) => new URL(url)).filter(({ protocol }) => protocol === "https:");
  const sites = new Set(urls.map(({ hostname }) => hostname.split(".").slice(-2).join(".")));
  if (sites.size < 2) return;
  logEvent("node.key_shared", { network, nodes: urls.map(labelOf).join(", ") });
}

/** Time between two blocks of a network. */
function blockMsOf({ devChain }: Config, network: Network, isDevelopment: boolean): number {
  return isDevelopment ? devChain.blockMs : PROFILES[network].pace.blockMs;
}

/** @throws {UnusableChain} where a development chain is met outside development */
async function refuseDevelopment(
  { environment }: Config,
  network: Network,
  probing: Promise<DevNode | null>,
): Promise<void> {
  if (environment === "development" || await probing === null) return;
  throw new UnusableChain(
    `Cannot use a development chain outside development: ${network}_NODE_URLS`,
  );
}

/** Time for which the first look at a network holds up the start: the others are not to wait for it. */
const FIRST_LOOK_MS = 3_000;

/**
 * The chain once it is checked; when it cannot be reached now, or does not answer in time, one that is checked before
 * use. Where the decimals of a token turn out to differ only then, the scan of the network stops and tells it.
 *
 * @throws {WrongDecimals} when a token's decimals differ
 */
async function checked(open: OpenChain): Promise<Chain> {
  const { network } = open;
  const chain = verifiedFirst(open);
  const look = chain.solid().then(() => null, (error: unknown) => error);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ChainUnavailable>((resolve) => {
    const message = `its nodes have not answered within ${FIRST_LOOK_MS} ms`;
    timer = setTimeout(
      () => resolve(new ChainUnavailable("timeout", message)),
      FIRST_LOOK_MS,
    );
  });
  const failure = await Promise.race([look, late]);
  clearTimeout(timer);
  if (failure === null) return chain;
  if (!(failure instanceof ChainUnavailable) || failure instanceof WrongDecimals) throw failure;
  logEvent("chain.unreached", { network, error: failure });
  return chain;
}

/** The token contracts of a network: configured, a development chain's own, or the well-known ones. */
export function contractsOf(config: Config, network: Network, dev: DevNode | null): TokenContracts {
  const { USDT, USDC } = config.networks[network].contracts;
  const known = PROFILES[network].contracts;
  const usdt = USDT ?? dev?.usdt ?? known.USDT;
  const usdc = USDC ?? (dev === null ? known.USDC : dev.usdc);
  return {
    ...(usdt === undefined ? {} : { USDT: usdt }),
    ...(usdc === undefined ? {} : { USDC: usdc }),
  };
}

function isPortTaken(error: unknown): boolean {
  return error instanceof WorkerUnavailable && error.reason.includes("already in use");
}

/** Starts a development chain in a worker, on the port it had before where that is free. */
async function startEmbedded(
  config: Config,
  network: Network,
  treasury: string | undefined,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const portFile = `${config.dataDir}/dev-chain-${network}.port`;
  const kept = Number(await readStored(portFile) ?? "0");
  const start = (port: number) =>
    startDevChainInWorker(new URL("../commands/dev_chain_worker.ts", import.meta.url), {
      network,
      dataDir: config.dataDir,
      port,
      blockMs: config.devChain.blockMs,
      solidLag: config.devChain.solidLag,
      ...(treasury === undefined ? {} : { treasury }),
    });
  let chain;
  try {
    chain = await start(kept).catch((error: unknown) => {
      if (kept === 0 || !isPortTaken(error)) throw error;
      logEvent("devchain.port_taken", {
        network,
        kept,
      });
      return start(0);
    });
  } catch (error) {
    if (error instanceof WorkerUnavailable) throw new UnusableChain(error.reason);
    throw error instanceof DevelopmentMissing ? new UnusableChain(error.message) : error;
  }
  if (chain.port !== kept) await store(portFile, String(chain.port));
  return { url: chain.url, stop: () => chain.stop() };
}

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
  for (const network of SERVED_NETWORKS) {
    const settings = config.networks[network];
    const account = wallet.networks[network];
    const embedded = credentials?.chains[network]?.url;
    const nodeUrls = settings.nodeUrls.length > 0 || embedded === undefined
      ? settings.nodeUrls
      : [embedded];
    if (account === undefined || nodeUrls.length === 0) continue;
    const dev = await probeDevNode(nodeUrls[0] ?? "");
    chains.set(
      network,
      await familyOf(network).open({
        network,
        nodeUrls,
        apiKey: settings.nodeApiKey?.reveal(),
        callsPerSecond: settings.callsPerSecond ?? undefined,
        receiptTypes: settings.receiptTypes,
        contracts: contractsOf(config, network, dev),
        blockMs: blockMsOf(config, network, dev !== null),
        deposits: publicAddresses(network, account),
        hotWallet: account.hotWallet,
        isDevelopment: dev !== null,
      }),
    );
  }
  return chains;
}
