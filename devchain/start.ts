/**
 * Starts a development chain in this thread: a TRON full node over HTTP, with its whole
 * state in one folder.
 *
 * @module
 */

import { fromBase58, type HexAddress, toBase58 } from "./address.ts";
import { ChainNode } from "./chain_node.ts";
import { DevNode } from "./dev_node.ts";
import { answerControl } from "./http/control_api.ts";
import { NodeApi } from "./http/node_api.ts";
import {
  chainFolder,
  checkedHostname,
  type DevChain,
  type DevChainOptions,
  paceOf,
} from "./options.ts";
import { serveChain } from "./serve.ts";
import { Store } from "./store.ts";

const TREASURY_USDT = 1_000_000n * 1_000_000n;
const TREASURY_SUN = 100_000n * 1_000_000n;

/**
 * Starts a chain.
 *
 * @returns once it listens
 * @throws when the options are wrong, the port is taken, or another process holds the file
 */
export async function startDevChain(options: DevChainOptions): Promise<DevChain> {
  const hostname = checkedHostname(options);
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
  const pace = paceOf(options);
  const node = new ChainNode(store, pace.solidLag, Date.now);
  const dev = new DevNode(node, options.network, pace);
  if (node.head.height === 0 && options.treasury !== undefined) fund(dev, options.treasury);
  const stopped = new AbortController();
  const api = new NodeApi(node, dev.faults, stopped.signal);
  const server = serveChain(
    { ...options, hostname },
    (request, url, peer) =>
      url.pathname.startsWith("/dev/")
        ? answerControl(dev, request, url.pathname, peer)
        : api.answer(request, url),
    (error) => Response.json({ Error: `class java.lang.Error : ${error}` }, { status: 500 }),
  );
  dev.start();
  let stopping: Promise<void> | undefined;
  return {
    url: server.url,
    port: server.port,
    usdt: toBase58(node.identity.usdt),
    faucetAddress: dev.faucet.address,
    stop: () => stopping ??= stop(),
  };

  async function stop(): Promise<void> {
    dev.stop();
    stopped.abort();
    await server.stop();
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
