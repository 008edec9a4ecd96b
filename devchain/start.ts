/**
 * Starts a development chain in this thread: a TRON full node over HTTP, with its whole
 * state in one folder.
 *
 * @module
 */

import { logEvent } from "../log/log_event.ts";
import { fromBase58, type HexAddress, toBase58 } from "./address.ts";
import { ChainNode } from "./chain_node.ts";
import { DevNode } from "./dev_node.ts";
import { answerControl } from "./http/control_api.ts";
import { NodeApi } from "./http/node_api.ts";
import { Store } from "./store.ts";

/** Options of a chain. Plain data, so that it can cross into a worker. */
export interface DevChainOptions {
  /** For example `TRX`; names the chain and its folder. */
  readonly network: string;
  /** Folder that holds a folder per network. */
  readonly dataDir: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Loopback address to listen on, default 127.0.0.1. */
  readonly hostname?: string;
  /** Milliseconds between blocks, default 1000; 0 makes blocks only on demand. */
  readonly blockMs?: number;
  /** Blocks from the head back to the solid block, default 3. */
  readonly solidLag?: number;
  /** Base58 address that gets 1,000,000 USDT and 100,000 TRX in the first block of a new chain. */
  readonly treasury?: string;
}

/** A running chain. */
export interface DevChain {
  /** For example `http://127.0.0.1:9090`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Base58 address of the USDT contract. */
  readonly usdt: string;
  readonly faucetAddress: string;
  /** Stops listening and closes the file. */
  stop(): Promise<void>;
}

const TREASURY_USDT = 1_000_000n * 1_000_000n;
const TREASURY_SUN = 100_000n * 1_000_000n;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const STOP_MS = 2_000;

/** The folder of a network's chain. */
export function chainFolder(dataDir: string, network: string): string {
  return `${dataDir}/dev-chain-${network}`;
}

/**
 * Starts a chain.
 *
 * @returns once it listens
 * @throws when the options are wrong, the port is taken, or another process holds the file
 */
export async function startDevChain(options: DevChainOptions): Promise<DevChain> {
  if (!/^\w+$/.test(options.network)) {
    throw new RangeError(`Cannot start a chain as its name is malformed: ${options.network}`);
  }
  const hostname = options.hostname ?? "127.0.0.1";
  if (!LOOPBACK.has(hostname)) {
    throw new RangeError(`Cannot start a chain as it is for this machine only: ${hostname}`);
  }
  const folder = chainFolder(options.dataDir, options.network);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await requireNoOldFile(`${folder}/chain.sqlite`, folder);
  const store = new Store(folder);
  try {
    return serve(store, options, hostname);
  } catch (error) {
    store.close();
    throw error;
  }
}

function serve(store: Store, options: DevChainOptions, hostname: string): DevChain {
  const pace = { blockMs: options.blockMs ?? 1_000, solidLag: options.solidLag ?? 3 };
  const node = new ChainNode(store, pace.solidLag, Date.now);
  const dev = new DevNode(node, options.network, pace);
  if (node.head.height === 0 && options.treasury !== undefined) fund(dev, options.treasury);
  const stopped = new AbortController();
  const api = new NodeApi(node, dev.faults, stopped.signal);
  const server = Deno.serve({
    hostname,
    port: options.port,
    onListen: () => {},
    onError: (error) => {
      logEvent("devchain.request_failed", {
        network: options.network,
        error,
      });
      return Response.json({ Error: `class java.lang.Error : ${error}` }, { status: 500 });
    },
  }, (request, info) => {
    const url = new URL(request.url);
    if (!url.pathname.startsWith("/dev/")) return api.answer(request, url);
    return answerControl(dev, request, url.pathname, info.remoteAddr.hostname);
  });
  dev.start();
  const port = server.addr.port;
  let stopping: Promise<void> | undefined;
  return {
    url: `http://${hostname === "::1" ? "[::1]" : hostname}:${port}`,
    port,
    usdt: toBase58(node.identity.usdt),
    faucetAddress: dev.faucet.address,
    stop: () => stopping ??= stop(),
  };

  async function stop(): Promise<void> {
    dev.stop();
    stopped.abort();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waited = new Promise<void>((resolve) => timer = setTimeout(resolve, STOP_MS));
    await Promise.race([server.shutdown(), waited]);
    clearTimeout(timer);
    store.close();
  }
}

/** @throws {Error} when the folder is of the version that kept a chain in SQLite */
async function requireNoOldFile(file: string, folder: string): Promise<void> {
  try {
    await Deno.lstat(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  throw new Error(
    "Cannot open the development chain as its folder is of an older version, begin with another data " +
      `folder or delete it: ${folder}`,
  );
}

/** The treasury's money goes into the first block, by transactions as any other. */
function fund(dev: DevNode, treasury: string): void {
  const address = fromBase58(treasury);
  if (address === null) {
    throw new RangeError(`Cannot fund the treasury as its address is malformed: ${treasury}`);
  }
  // One commit: a crash in between would otherwise fund twice or by half.
  dev.node.store.transaction(() => fundWith(dev, address));
}

function fundWith(dev: DevNode, address: HexAddress): void {
  const { faucet, node } = dev;
  for (
    const sent of [
      faucet.payTrx(address, TREASURY_SUN),
      faucet.payToken(node.identity.usdt, address, TREASURY_USDT),
    ]
  ) {
    if ("refused" in sent) throw new Error(`Cannot fund the treasury: ${sent.refused}`);
  }
  dev.mine(1);
}
