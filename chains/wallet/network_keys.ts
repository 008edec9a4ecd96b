/**
 * Each network's keys: their places in the derivation tree, the keys there, and their addresses.
 *
 * Coin types are those of SLIP-44. Deposit addresses are `m/44'/<coin>'/<deposits>'/0/<index>`, the
 * hot wallet is `m/44'/<coin>'/<hot>'/0/0`: each network has two accounts of its own, which no other
 * network shares.
 *
 * A step without hardening can be walked back: a parent's extended public key and the private key of
 * one child give the parent's private key, and with it all of the parent's other children. The service
 * knows the extended public key of the deposit branch, and a deposit key may leak as it is exported or
 * signs elsewhere. So the hot wallet must share no step with deposit addresses below a hardened one.
 * docs/wallet.md has the table for people.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { mnemonicToSeed } from "@scure/bip39";
import type { Network } from "../../ledger/money/pair.ts";
import type { AddressSource } from "../address_source.ts";
import { depositBranch } from "../deposit_branch.ts";
import { familyOf } from "../families.ts";
import type { SigningKey } from "../signer.ts";
import type { PublicAccount } from "./wallet_file.ts";

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

/**
 * The encoder of a network.
 *
 * @returns takes a 33-byte compressed public key
 * @throws {TypeError} when wallets cannot hold that network yet
 */
export function addressEncoder(network: Network): (publicKey: Uint8Array) => string {
  return familyOf(network).encodeAddress;
}

/** Which of a network's wallets: the hot wallet, or the deposit address with an index. */
export type WalletName = "hot" | number;

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

/**
 * Deposit addresses of a network, from the public key alone.
 *
 * @throws {TypeError} when the key is malformed, private, or no deposit branch's
 */
export function publicAddresses(
  network: Network,
  { depositXpub }: Pick<PublicAccount, "depositXpub">,
): AddressSource {
  const keyOf = depositBranch(depositXpub);
  const encode = addressEncoder(network);
  return { address: (index) => encode(keyOf(index)) };
}
