/**
 * The private account node of a network and what is derived from it.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { mnemonicToSeed } from "@scure/bip39";
import type { Network } from "../../ledger/pair.ts";
import { addressEncoder } from "./address_encoders.ts";
import { ACCOUNT_PATHS, accountPath, DEPOSIT_BRANCH, INTERNAL_BRANCH } from "./derivation_paths.ts";
import type { PublicAccount } from "./wallet_file.ts";

/** Which of a network's wallets: the hot wallet, or the deposit address with an index. */
export type WalletName = "hot" | number;

/** A key ready to sign, with its address. */
export interface SigningKey {
  readonly address: string;
  readonly privateKey: Uint8Array;
}

/** The master node of a mnemonic, without BIP-39 passphrase. */
export async function masterKey(mnemonic: string): Promise<HDKey> {
  const seed = await mnemonicToSeed(mnemonic);
  try {
    return HDKey.fromMasterSeed(seed);
  } finally {
    seed.fill(0);
  }
}

/** The account node of a network. */
export function accountKey(master: HDKey, network: Network): HDKey {
  return master.derive(accountPath(network));
}

/** Derives one wallet's key from its network's account node. */
export function signingKey(account: HDKey, network: Network, wallet: WalletName): SigningKey {
  const node = wallet === "hot"
    ? account.deriveChild(INTERNAL_BRANCH).deriveChild(0)
    : account.deriveChild(DEPOSIT_BRANCH).deriveChild(wallet);
  const { privateKey, publicKey } = node;
  if (privateKey === null || publicKey === null) {
    throw new Error(`Cannot derive a key as the node has none: ${network} ${wallet}`);
  }
  return { address: addressEncoder(network)(publicKey), privateKey };
}

/** What everybody may know of the account. */
export function publicAccount(account: HDKey, network: Network): PublicAccount {
  const hot = signingKey(account, network, "hot");
  hot.privateKey.fill(0);
  return {
    accountIndex: ACCOUNT_PATHS[network].account,
    xpub: account.publicExtendedKey,
    hotWallet: hot.address,
  };
}
