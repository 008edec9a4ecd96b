/**
 * Options and results that the development chains of all kinds share.
 *
 * @module
 */

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
  /** Address that has 1,000,000 USDT and coin (100,000 TRX, 100 ETH or BNB) from the first block on. */
  readonly treasury?: string;
}

/** A running chain. */
export interface DevChain {
  /** For example `http://127.0.0.1:9090`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Address of the USDT contract, as the network writes it. */
  readonly usdt: string;
  /** Address of the USDC contract, where the chain has one. */
  readonly usdc?: string;
  readonly faucetAddress: string;
  /** Stops listening and closes the files. */
  stop(): Promise<void>;
}

/** Pace that a chain was started with. */
export interface Pace {
  /** Milliseconds between blocks; 0 makes blocks only on demand. */
  readonly blockMs: number;
  /** Blocks from the head back to the solid block. */
  readonly solidLag: number;
}

/** The pace where an option says nothing. */
export function paceOf({ blockMs, solidLag }: DevChainOptions): Pace {
  return { blockMs: blockMs ?? 1_000, solidLag: solidLag ?? 3 };
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/**
 * The loopback address that a chain listens on.
 *
 * @throws {RangeError} when the options name another address, or the name of the chain is a path
 */
export function checkedHostname({ network, hostname = "127.0.0.1" }: DevChainOptions): string {
  if (!/^\w+$/.test(network)) {
    throw new RangeError(`Cannot start a chain as its name is malformed: ${network}`);
  }
  if (LOOPBACK.has(hostname)) return hostname;
  throw new RangeError(`Cannot start a chain as it is for this machine only: ${hostname}`);
}

/** The folder of a network's chain. */
export function chainFolder(dataDir: string, network: string): string {
  return `${dataDir}/dev-chain-${network}`;
}
