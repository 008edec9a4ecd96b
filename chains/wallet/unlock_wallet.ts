/**
 * Unlocks a wallet for signing. Only the signer calls this.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import { decryptMnemonic } from "./mnemonic_cipher.ts";
import {
  masterKey,
  type NetworkKeys,
  networkKeys,
  publicAccount,
  signingKey,
  type WalletName,
  wipeNetworkKeys,
} from "./network_keys.ts";
import type { SigningKey } from "../signer.ts";
import { canonical, readWalletFile, type WalletFile } from "./wallet_file.ts";

/** Deposit addresses are swept now and then; their keys need not stay in memory. */
const KEPT_KEYS = 64;

/** Keys by network and wallet. */
export interface KeySource {
  readonly walletId: string;
  /**
   * The key of a wallet.
   *
   * @returns `null` when locked, or when the wallet has no account of that network
   */
  key(network: Network, wallet: WalletName): SigningKey | null;
  /**
   * The address of a wallet, as its keys have it: the hot wallet's was derived when they were
   * unlocked, a deposit address is derived each time.
   *
   * @returns `null` when locked, or when the wallet has no account of that network
   */
  address(network: Network, wallet: WalletName): string | null;
  /** Wipes the keys from memory; afterwards every key is `null`. */
  lock(): void;
}

/** An unlocked network. */
interface Account {
  readonly keys: NetworkKeys;
  /** Address of the hot wallet, derived from its key. */
  readonly hotWallet: string;
}

/** @throws {Error} when the file's public part is not what the mnemonic derives */
function requireSameAccount(
  keys: NetworkKeys,
  network: Network,
  stored: WalletFile["networks"][Network],
): Account {
  const derived = publicAccount(keys, network);
  const { hotWallet } = derived;
  if (canonical(stored) === canonical(derived)) return { keys, hotWallet };
  throw new Error(
    `Cannot unlock the wallet as its public part is not of its mnemonic: ${network} ${hotWallet}`,
  );
}

/** The source over unlocked networks. */
function keySource(walletId: string, accounts: Map<Network, Account>): KeySource {
  const kept = new Map<string, SigningKey>();
  return {
    walletId,
    key(network, wallet) {
      const name = `${network}/${wallet}`;
      const known = kept.get(name);
      if (known !== undefined) return known;
      const account = accounts.get(network);
      if (account === undefined) return null;
      const key = signingKey(account.keys, network, wallet);
      if (kept.size >= KEPT_KEYS) {
        const oldest = kept.keys().next().value;
        if (oldest !== undefined) {
          // who signs takes a key and uses it before asking for another
          kept.get(oldest)?.privateKey.fill(0);
          kept.delete(oldest);
        }
      }
      kept.set(name, key);
      return key;
    },
    address(network, wallet) {
      const account = accounts.get(network);
      if (account === undefined) return null;
      if (wallet === "hot") return account.hotWallet;
      const { address, privateKey } = signingKey(account.keys, network, wallet);
      privateKey.fill(0);
      return address;
    },
    lock() {
      for (const { privateKey } of kept.values()) privateKey.fill(0);
      kept.clear();
      for (const { keys } of accounts.values()) wipeNetworkKeys(keys);
      accounts.clear();
    },
  };
}

/**
 * Unlocks a wallet file.
 *
 * @throws {Error} when the passphrase is wrong, or the file was changed, or its public part does
 *   not belong to its mnemonic
 */
export async function unlockWallet(file: string, passphrase: string): Promise<KeySource> {
  const wallet = await readWalletFile(file);
  const master = await masterKey(await decryptMnemonic(wallet, passphrase));
  const accounts = new Map<Network, Account>();
  try {
    for (const network of Object.keys(wallet.networks) as Network[]) {
      const keys = networkKeys(master, network);
      accounts.set(network, requireSameAccount(keys, network, wallet.networks[network]));
    }
  } finally {
    master.wipePrivateData();
  }
  return keySource(wallet.walletId, accounts);
}

/**
 * The words themselves, for a backup on paper.
 *
 * @throws {Error} when the passphrase is wrong or the file was changed
 */
export async function exportMnemonic(file: string, passphrase: string): Promise<string> {
  return await decryptMnemonic(await readWalletFile(file), passphrase);
}
