import type { Network } from "../../ledger/money/pair.ts";

/** How wallets and exchanges call a network, so that customers choose the right one. */
export interface NetworkName {
  readonly name: string;
  /** The token standard, by which many wallets name the network. */
  readonly standard: string;
  /** Whether its money is worth nothing. */
  readonly isTest: boolean;
}

/** Names that are not translated: they have to match what the wallet shows. */
export const NETWORK_NAMES: Readonly<Record<Network, NetworkName>> = {
  TRX: { name: "TRON", standard: "TRC-20", isTest: false },
  ETH: { name: "Ethereum", standard: "ERC-20", isTest: false },
  BNB: { name: "BNB Smart Chain", standard: "BEP-20", isTest: false },
  SOL: { name: "Solana", standard: "SPL", isTest: false },
  TRX_SHASTA: { name: "TRON Shasta", standard: "TRC-20", isTest: true },
  SEP: { name: "Ethereum Sepolia", standard: "ERC-20", isTest: true },
  tBNB: { name: "BNB Smart Chain Testnet", standard: "BEP-20", isTest: true },
  SOL_DEVNET: { name: "Solana Devnet", standard: "SPL", isTest: true },
};
