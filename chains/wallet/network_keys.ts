/**
 * The private keys of a network and what is derived from them.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { mnemonicToSeed } from "@scure/bip39";
import type { Network } from "../../ledger/money/pair.ts";
import { addressEncoder } from "./addresses.ts";
import { ACCOUNT_PATHS, depositBranchPath, hotWalletPath } from "./derivation_paths.ts";
import type { PublicAccount } from "./wallet_file.ts";

/** Which of a network's wallets: the hot wallet, or the deposit address with an index. */
export type WalletName = "hot" | number;

/** A key ready to sign, with its address. */
export interface SigningKey {
  readonly address: string;
  readonly privateKey: Uint8Array;
}

/** Keys of one network; neither can be derived from the other. */
export interface NetworkKeys {
  /** The deposit branch, parent of all deposit addresses. */
  readonly deposits: HDKey;
  /** The hot wallet. */
  readonly hot: HDKey;
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

/** The keys of a network. */
export function networkKeys(master: HDKey, network: Network): NetworkKeys {
  return {
    deposits: master.derive(depositBranchPath(network)),
    hot: master.derive(hotWalletPath(network)),
  };
}

/** Wipes the keys of a network from memory. */
export function wipeNetworkKeys({ deposits, hot }: NetworkKeys): void {
  deposits.wipePrivateData();
  hot.wipePrivateData();
}

/** Derives one wallet's key from the keys of its network; the caller may wipe it. */
export function signingKey(keys: NetworkKeys, network: Network, wallet: WalletName): SigningKey {
  const { privateKey, publicKey } = wallet === "hot" ? keys.hot : keys.deposits.deriveChild(wallet);
  if (privateKey === null || publicKey === null) {
    throw new Error(`Cannot derive a key as the node has none: ${network} ${wallet}`);
  }
  return { address: addressEncoder(network)(publicKey), privateKey };
}

/** The public part of a network's keys: enough to watch and to hand out deposit addresses. */
export function publicAccount(keys: NetworkKeys, network: Network): PublicAccount {
  const { deposits, hot } = ACCOUNT_PATHS[network];
  const key = signingKey(keys, network, "hot");
  key.privateKey.fill(0);
  return {
    kind: "secp256k1",
    depositAccount: deposits,
    depositXpub: keys.deposits.publicExtendedKey,
    hotAccount: hot,
    hotWallet: key.address,
  };
}
