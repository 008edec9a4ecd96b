/**
 * Places of each network's keys in the derivation tree, with coin types after SLIP-44. Deposit
 * addresses are `m/44'/<coin>'/<deposits>'/0/<index>`, the hot wallet is `m/44'/<coin>'/<hot>'/0/0`:
 * each network has two accounts of its own, which no other network shares.
 *
 * A step without hardening can be walked back: a parent's extended public key and the private key of
 * one child give the parent's private key, and with it all of the parent's other children. The service
 * knows the extended public key of the deposit branch, and a deposit key may leak as it is exported or
 * signs elsewhere. So the hot wallet must share no step with deposit addresses below a hardened one.
 * docs/wallet.md has the table for people.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";

/** Place of a network's two accounts. */
export interface AccountPath {
  /** SLIP-44: 195 TRON, 60 Ethereum and chains with its addresses, 501 Solana. */
  readonly coinType: number;
  /** Account whose first branch has the deposit addresses. */
  readonly deposits: number;
  /** Account whose first address is the hot wallet; 1000 and more were never anybody's before. */
  readonly hot: number;
}

/** Never renumber: addresses handed out are watched for ever. */
export const ACCOUNT_PATHS: Readonly<Record<Network, AccountPath>> = {
  TRX: { coinType: 195, deposits: 0, hot: 1000 },
  TRX_SHASTA: { coinType: 195, deposits: 1, hot: 1001 },
  ETH: { coinType: 60, deposits: 0, hot: 1000 },
  SEP: { coinType: 60, deposits: 1, hot: 1001 },
  BNB: { coinType: 60, deposits: 2, hot: 1002 },
  tBNB: { coinType: 60, deposits: 3, hot: 1003 },
  SOL: { coinType: 501, deposits: 0, hot: 1000 },
  SOL_DEVNET: { coinType: 501, deposits: 1, hot: 1001 },
};

/** The branch of deposit addresses, for example `m/44'/195'/0'/0`. */
export function depositBranchPath(network: Network): string {
  const { coinType, deposits } = ACCOUNT_PATHS[network];
  return `m/44'/${coinType}'/${deposits}'/0`;
}

/** The hot wallet's key, for example `m/44'/195'/1000'/0/0`. */
export function hotWalletPath(network: Network): string {
  const { coinType, hot } = ACCOUNT_PATHS[network];
  return `m/44'/${coinType}'/${hot}'/0/0`;
}
