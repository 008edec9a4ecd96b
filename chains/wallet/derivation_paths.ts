/**
 * Where each network's keys lie in the derivation tree. Every network has an account of its own,
 * so that the keys of a test network are never those of a main network, and so that a restored
 * wallet can be scanned network by network.
 *
 * Deposit addresses are `m/44'/<coin>'/<account>'/0/<index>`, the hot wallet is
 * `m/44'/<coin>'/<account>'/1/0` (BIP-44's branch for addresses that are not handed out). Coin
 * types after SLIP-44.
 *
 * @module
 */

import type { Network } from "../../ledger/pair.ts";

/** Place of a network's account. */
export interface AccountPath {
  /** SLIP-44: 195 TRON, 60 Ethereum and chains with its addresses, 501 Solana. */
  readonly coinType: number;
  readonly account: number;
}

/** Never renumber: addresses handed out are watched for ever. */
export const ACCOUNT_PATHS: Readonly<Record<Network, AccountPath>> = {
  TRX: { coinType: 195, account: 0 },
  TRX_SHASTA: { coinType: 195, account: 1 },
  ETH: { coinType: 60, account: 0 },
  SEP: { coinType: 60, account: 1 },
  BNB: { coinType: 60, account: 2 },
  tBNB: { coinType: 60, account: 3 },
  SOL: { coinType: 501, account: 0 },
  SOL_DEVNET: { coinType: 501, account: 1 },
};

/** The branch of deposit addresses. */
export const DEPOSIT_BRANCH = 0;
/** The branch of the hot wallet. */
export const INTERNAL_BRANCH = 1;

/** The account's path, for example `m/44'/195'/0'`. */
export function accountPath(network: Network): string {
  const { coinType, account } = ACCOUNT_PATHS[network];
  return `m/44'/${coinType}'/${account}'`;
}
