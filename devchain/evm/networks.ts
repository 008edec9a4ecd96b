/**
 * The networks whose development chains are made with anvil, as data.
 *
 * @module
 */

/** Facts of one of these chains. */
export interface EvmNetwork {
  /** A number of its own: a signature for the real network is worth nothing here, nor the other way round. */
  readonly chainId: number;
  readonly coin: string;
  /** Decimals of USDT and USDC. */
  readonly decimals: number;
  /** Base fee of a new chain, wei; held until it is set. */
  readonly baseFee: bigint;
  /** The least tip that a node takes, wei. */
  readonly leastTip: bigint;
}

const GWEI = 1_000_000_000n;
/** Added to the real network's number. */
const OWN_CHAIN_IDS = 1_337_000;

const ETHEREUM = { coin: "ETH", decimals: 6, baseFee: GWEI, leastTip: 1n } as const;
const BNB = { coin: "BNB", decimals: 18, baseFee: 0n, leastTip: GWEI / 20n } as const;

const NETWORKS: Readonly<Record<string, EvmNetwork>> = {
  ETH: { ...ETHEREUM, chainId: OWN_CHAIN_IDS + 1 },
  SEP: { ...ETHEREUM, chainId: OWN_CHAIN_IDS + 11_155_111 },
  BNB: { ...BNB, chainId: OWN_CHAIN_IDS + 56 },
  tBNB: { ...BNB, chainId: OWN_CHAIN_IDS + 97 },
};

/** The facts of a network. @throws {RangeError} for one of another kind */
export function evmNetwork(name: string): EvmNetwork {
  const network = Object.hasOwn(NETWORKS, name) ? NETWORKS[name] : undefined;
  if (network !== undefined) return network;
  throw new RangeError(`Cannot start a chain as its network is none of EVM: ${name}`);
}
