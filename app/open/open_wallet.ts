import type { Chain } from "../../chains/chain.ts";
import type { Config } from "../config/config.ts";
import { registerWallet, type WalletMismatch } from "../../ledger/addresses/wallets.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  holdsWords,
  networkFingerprint,
  openPublicWallet,
  type PublicWallet,
} from "../../chains/wallet/public_wallet.ts";
import { OLD_FORM } from "../../chains/wallet/wallet_file.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { randomHex, readStored, store } from "./data_folder.ts";

/** A wallet's public side, and where the signer finds the rest. */
export interface Wallet {
  readonly wallet: PublicWallet;
  readonly walletFile: string;
  readonly passphraseFile: string;
}

/**
 * Opens the configured wallet's public side; in development a wallet is made on first start, and the one that
 * was made gets accounts of networks that are opened later.
 *
 * @param networks that are opened
 * @throws {WalletFault} when it cannot be used, when there is none outside development, or one that was made for development
 */
export async function openWallet(config: Config, networks: readonly Network[]): Promise<Wallet> {
  const walletFile = config.walletFile ?? `${config.dataDir}/wallet.json`;
  const passphraseFile = config.walletPassphraseFile ?? `${config.dataDir}/wallet-passphrase`;
  if (config.environment === "development" && await readStored(walletFile) === null) {
    const passphraseIsRandom = await readStored(passphraseFile) === null;
    if (passphraseIsRandom) await store(passphraseFile, randomHex());
    const passphrase = (await Deno.readTextFile(passphraseFile)).trim();
    const { createWallet } = await import("../../chains/wallet/create_wallet.ts");
    await createWallet({
      file: walletFile,
      passphrase,
      passphraseIsRandom,
      networks,
      development: true,
    });
  }
  let wallet = await openConfiguredWallet(config, walletFile);
  // a file that the operator names is the operator's to extend
  const isOwn = config.environment === "development" && config.walletFile === null;
  if (isOwn && networks.some((network) => wallet.networks[network] === undefined)) {
    const passphrase = (await Deno.readTextFile(passphraseFile)).trim();
    const { addNetworks } = await import("../../chains/wallet/add_networks.ts");
    ({ wallet } = await addNetworks({ file: walletFile, passphrase, networks }));
  }
  if (config.environment !== "development" && await holdsWords(walletFile)) {
    throw new WalletFault(
      `Cannot run on the signer's wallet file, make the service's own by deno task wallet show-public: ${walletFile}`,
    );
  }
  return { wallet, walletFile, passphraseFile };
}

/**
 * Reads the public side of the wallet that is configured.
 *
 * @throws {WalletFault} when it cannot be used, when there is none, or outside development one that was made for it
 */
export async function openConfiguredWallet(
  config: Config,
  walletFile: string,
): Promise<PublicWallet> {
  let wallet;
  try {
    wallet = await openPublicWallet(walletFile);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new WalletFault(`Cannot open the wallet as WALLET_FILE names no file: ${walletFile}`);
  }
  if (wallet.development && config.environment !== "development") {
    throw new WalletFault(
      `Cannot open the wallet as WALLET_FILE names one that was made for development: ${walletFile}`,
    );
  }
  return wallet;
}

/**
 * Binds the database to the wallet, network by network.
 *
 * @throws {WalletFault} when the database has addresses of another wallet, or of one of the old form, or
 *   the public part of this one was changed
 */
export async function registerWallets(
  sql: Sql,
  wallet: PublicWallet,
  networks: Iterable<Network>,
): Promise<void> {
  for (const network of networks) {
    const account = wallet.networks[network];
    const fingerprint = networkFingerprint(wallet, network);
    if (account === undefined || fingerprint === null) {
      throw new WalletFault(
        `Cannot use the wallet as it has no account of a network, add it (deno task wallet add-networks --networks ${network}): ${network}`,
      );
    }
    const { walletId } = wallet;
    const { hotWallet } = account;
    const mismatch = await registerWallet(sql, network, { walletId, hotWallet, fingerprint });
    if (mismatch !== null) throw new WalletFault(textOf(mismatch, network, walletId));
  }
}

function textOf(mismatch: WalletMismatch, network: Network, walletId: string): string {
  switch (mismatch) {
    case "another":
      return `Cannot use the wallet as the database has addresses of another one: ${network} is not of ${walletId}`;
    case "changed":
      return `Cannot use the wallet as its public part is not the one that the database was begun with, and may ` +
        `have been tampered with: make it again from the signer's file (deno task wallet show-public): ${network}`;
    case "old-form":
      return `Cannot use the database as its wallet is ${OLD_FORM}: ${network}`;
    default:
      return mismatch satisfies never;
  }
}

/**
 * The deposit address of an index.
 *
 * @throws {Error} when the network is not open
 */
export function deriveOn(
  chains: ReadonlyMap<Network, Pick<Chain, "deriveAddress">>,
  network: Network,
  walletIndex: number,
): string {
  const chain = chains.get(network);
  if (chain === undefined) {
    throw new Error(`Cannot derive an address as its network is not open: ${network}`);
  }
  return chain.deriveAddress(walletIndex);
}
