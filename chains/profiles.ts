/**
 * The networks as data: what is fixed of each. What may change, such as prices and heights, is read
 * from its nodes.
 *
 * Sources. TRON: developers.tron.network (blocks of 3 s; solid after 19 of them, which takes 57 s),
 * the first blocks as its public nodes answer them, tether.to and the TRC-20 tutorial of
 * developers.tron.network for contracts. USDC has none there: its issuer stopped minting it on TRON in
 * February 2024. BNB Smart Chain: BEP-619 (blocks of 0.45 s), docs.bnbchain.org (fast finality, about
 * 1.1 s). Ethereum: docs.chainstack.com (`finalized` trails by two to three epochs, 13 to 16 minutes). First
 * blocks and numbers of both, and of their test networks: `params/config.go` of go-ethereum and bsc.
 * Solana: solana.com/docs (slots of 0.4 s, final after 32).
 *
 * Contracts of Ethereum: tether.to (USDT) and developers.circle.com (USDC, Sepolia too). On BNB Smart Chain both tokens are
 * Binance's (bscscan.com), not Tether's or Circle's. Every start compares decimals, and `deno task verify` shows what a node
 * has of them. Levels of coin and fees there are estimates.
 *
 * From memory, and to be compared with a node before a family uses them: Solana's identities, contracts and levels.
 * Nothing reads them while no family serves it, see `families.ts`.
 *
 * @module
 */

import { type Currency, type Network, NETWORKS } from "../ledger/money/pair.ts";

/** Kinds of chains: the networks of one speak the same dialect. */
export type FamilyName = "tron" | "evm" | "solana";

/**
 * Senders of sweeps, on chains that leave the choice: the address itself, with coin that it is given, or the hot
 * wallet, by the contract that addresses authorise.
 */
export const SWEEPS_BY = ["coin", "delegate"] as const;
/** One of {@linkcode SWEEPS_BY}. */
export type SweepBy = (typeof SWEEPS_BY)[number];

/** Token contracts by currency, as text; a currency without one is not supported. */
export type TokenContracts = Readonly<Partial<Record<Currency, string>>>;

/** Speed at which things happen on a network, milliseconds. */
export interface ChainPace {
  /** Time between two blocks. */
  readonly blockMs: number;
  /** Time after which a block is final. */
  readonly finalityMs: number;
  /** Pause between two looks at its newest blocks; null: finality is faster than a look. */
  readonly headMs: number | null;
  /** Pause between two looks at its final blocks. */
  readonly solidMs: number;
  /** Time for which a signed transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** Pause between two checks whether a pending deposit can still become final. */
  readonly recheckMs: number;
  /** Time after which a sweep's step that shows nowhere is looked into. */
  readonly sweepStaleMs: number;
}

/** Names of a network at wallets and exchanges, so that customers choose the right one; never translated. */
export interface NetworkNames {
  readonly name: string;
  /** The token standard, by which many wallets name the network. */
  readonly standard: string;
  /** True where its money is worth nothing. */
  readonly isTest: boolean;
}

/** The fixed facts of a network. */
export interface Profile {
  readonly family: FamilyName;
  readonly names: NetworkNames;
  /** The coin that its transactions are paid in; a test network has that of the one it stands for. */
  readonly coin: { readonly symbol: string; readonly decimals: number };
  /** The chain that its nodes have to say they are of: the first block's id. */
  readonly identity: string;
  /** The number that its transactions are signed for, on chains that have one. */
  readonly chainId?: number;
  /** Contracts that are published by the tokens' issuers. */
  readonly contracts: TokenContracts;
  readonly pace: ChainPace;
  /** Settings where the operator says nothing; amounts in coin. */
  readonly defaults: {
    /** The hot wallet is low below so much. */
    readonly lowCoin: string;
    /** The most that one transaction may cost. */
    readonly feeCap: string;
    /** Expired attempts after which a payout is given up; null: a transaction never expires. */
    readonly attempts: number | null;
    /** Absent: its chain knows one way alone. */
    readonly sweepBy?: SweepBy;
  };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const TRON_PACE: ChainPace = {
  blockMs: 3 * SECOND,
  finalityMs: 57 * SECOND,
  headMs: 1_500,
  solidMs: 1_500,
  resendMs: 15 * SECOND,
  recheckMs: 15 * SECOND,
  sweepStaleMs: 15 * MINUTE,
};
const ETHEREUM_PACE: ChainPace = {
  blockMs: 12 * SECOND,
  // before the next epoch is final, the newest final block is three epochs old
  finalityMs: 20 * MINUTE,
  headMs: 4 * SECOND,
  solidMs: 30 * SECOND,
  resendMs: 12 * SECOND,
  recheckMs: 30 * SECOND,
  sweepStaleMs: 45 * MINUTE,
};
const BNB_PACE: ChainPace = {
  blockMs: 450,
  finalityMs: 1_100,
  headMs: null,
  solidMs: 1_500,
  resendMs: 3 * SECOND,
  recheckMs: 3 * SECOND,
  sweepStaleMs: 5 * MINUTE,
};
const SOLANA_PACE: ChainPace = {
  blockMs: 400,
  finalityMs: 12_800,
  headMs: SECOND,
  solidMs: 2 * SECOND,
  resendMs: 2 * SECOND,
  recheckMs: 5 * SECOND,
  sweepStaleMs: 5 * MINUTE,
};

const TRON = {
  family: "tron",
  coin: { symbol: "TRX", decimals: 6 },
  pace: TRON_PACE,
  // a transfer to a new holder at the highest energy price so far needs 66 TRX
  defaults: { lowCoin: "200", feeCap: "150", attempts: 3 },
} as const;
const ETHEREUM = {
  family: "evm",
  coin: { symbol: "ETH", decimals: 18 },
  pace: ETHEREUM_PACE,
  defaults: { lowCoin: "0.3", feeCap: "0.02", attempts: null, sweepBy: "coin" },
} as const;
const BNB = {
  family: "evm",
  coin: { symbol: "BNB", decimals: 18 },
  pace: BNB_PACE,
  defaults: { lowCoin: "0.1", feeCap: "0.005", attempts: null, sweepBy: "coin" },
} as const;
const SOLANA = {
  family: "solana",
  coin: { symbol: "SOL", decimals: 9 },
  pace: SOLANA_PACE,
  defaults: { lowCoin: "1", feeCap: "0.01", attempts: 20 },
} as const;

/**
 * The other networks whose addresses look like those of a network, so that customers may mistake one for
 * another. Its own test network is not left out: to some wallets it is one more entry of a list. What a test network
 * brings for an address of a main one is worth nothing, and never looked for.
 */
export function networksAlike(network: Network): readonly Network[] {
  const { family, names } = PROFILES[network];
  return family === "evm"
    ? NETWORKS.filter((other) => {
      const { family: kind, names: { isTest } } = PROFILES[other];
      return other !== network && kind === family && (isTest || !names.isTest);
    })
    : [];
}

/** Every network of the interface. */
export const PROFILES: Readonly<Record<Network, Profile>> = {
  TRX: {
    ...TRON,
    names: { name: "TRON", standard: "TRC-20", isTest: false },
    identity: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
    contracts: { USDT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  },
  TRX_SHASTA: {
    ...TRON,
    names: { name: "TRON Shasta", standard: "TRC-20", isTest: true },
    identity: "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e",
    contracts: { USDT: "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs" },
  },
  ETH: {
    ...ETHEREUM,
    names: { name: "Ethereum", standard: "ERC-20", isTest: false },
    identity: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
    chainId: 1,
    contracts: {
      USDT: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
      USDC: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    },
  },
  SEP: {
    ...ETHEREUM,
    defaults: { ...ETHEREUM.defaults, sweepBy: "delegate" },
    names: { name: "Ethereum Sepolia", standard: "ERC-20", isTest: true },
    identity: "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9",
    chainId: 11_155_111,
    contracts: { USDC: "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238" },
  },
  BNB: {
    ...BNB,
    names: { name: "BNB Smart Chain", standard: "BEP-20", isTest: false },
    identity: "0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b",
    chainId: 56,
    contracts: {
      USDT: "0x55d398326f99059fF775485246999027B3197955",
      USDC: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
    },
  },
  tBNB: {
    ...BNB,
    defaults: { ...BNB.defaults, sweepBy: "delegate" },
    names: { name: "BNB Smart Chain Testnet", standard: "BEP-20", isTest: true },
    identity: "0x6d3c66c5357ec91d5c43af47e234a939b22557cbb552dc45bebbceeed90fbe34",
    chainId: 97,
    contracts: {},
  },
  SOL: {
    ...SOLANA,
    names: { name: "Solana", standard: "SPL", isTest: false },
    identity: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    contracts: {
      USDT: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
      USDC: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    },
  },
  SOL_DEVNET: {
    ...SOLANA,
    names: { name: "Solana Devnet", standard: "SPL", isTest: true },
    identity: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
    contracts: { USDC: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU" },
  },
};
