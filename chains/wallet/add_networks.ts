/**
 * Adds accounts of further networks to a wallet that is in use.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import { decryptMnemonic, encryptMnemonic } from "./mnemonic_cipher.ts";
import { masterKey, networkKeys, publicAccount, wipeNetworkKeys } from "./network_keys.ts";
import { openPublicWallet, type PublicWallet } from "./public_wallet.ts";
import { WalletFault } from "./secret_file.ts";
import { unlockWallet } from "./unlock_wallet.ts";
import { readWalletFile, replaceWalletFile, type WalletHeader } from "./wallet_file.ts";

/** A wallet that gets accounts of further networks. */
export interface AddNetworksOptions {
  readonly file: string;
  readonly passphrase: string;
  /** Those that the wallet has already are passed over. */
  readonly networks: readonly Network[];
}

/** The networks that were added, and the place of the earlier file. */
export interface AddedNetworks {
  readonly wallet: PublicWallet;
  readonly added: readonly Network[];
  /** The file as it was before. */
  readonly backup: string;
}

/**
 * Adds the accounts of networks that a wallet file lacks. The words, the wallet's id and its other accounts
 * stay as they are, so databases know it as the one it was. The file is exchanged whole, see
 * `replaceWalletFile`.
 *
 * @throws {WalletFault} when the wallet has them all, or its file may not be used
 * @throws {TypeError} when a network is not supported
 * @throws {Error} when the passphrase is wrong, or the file was changed
 */
export async function addNetworks(options: AddNetworksOptions): Promise<AddedNetworks> {
  const { file, passphrase } = options;
  const earlier = await readWalletFile(file);
  const added = [...new Set(options.networks)].filter((network) =>
    earlier.networks[network] === undefined
  );
  if (added.length === 0) {
    throw new WalletFault(`Cannot add a network as the wallet has an account of each: ${file}`);
  }
  // unlocking compares the accounts that are there with the words: a file that was put together is not extended
  (await unlockWallet(file, passphrase)).lock();
  const mnemonic = await decryptMnemonic(earlier, passphrase);
  const master = await masterKey(mnemonic);
  const networks: WalletHeader["networks"] = { ...earlier.networks };
  try {
    for (const network of added) {
      const keys = networkKeys(master, network);
      networks[network] = publicAccount(keys, network);
      wipeNetworkKeys(keys);
    }
  } finally {
    master.wipePrivateData();
  }
  const { cipher: _earlier, ...kept } = earlier;
  const salt = crypto.getRandomValues(new Uint8Array(32)).toBase64();
  const header: WalletHeader = { ...kept, networks, kdf: { ...kept.kdf, salt } };
  const cipher = await encryptMnemonic(mnemonic, passphrase, header);
  const backup = await replaceWalletFile(
    file,
    earlier,
    { ...header, cipher },
    // what is put in the place of the only copy of the words must open with the passphrase that is known
    async (written) => (await unlockWallet(written, passphrase)).lock(),
  );
  return { wallet: await openPublicWallet(file), added, backup };
}
