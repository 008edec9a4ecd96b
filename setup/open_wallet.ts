import type { Chain } from "../chains/chain.ts";
import type { Config } from "../config.ts";
import { registerWallet } from "../ledger/addresses/watch_addresses.ts";
import type { Sql } from "../ledger/database/connect.ts";
import type { Network } from "../ledger/pair.ts";
import { createWallet } from "../chains/wallet/create_wallet.ts";
import { openPublicWallet, type PublicWallet } from "../chains/wallet/public_wallet.ts";
import { keep, randomHex, readKept } from "./kept_file.ts";

/** A wallet's public side, and where the signer finds the rest. */
export interface Wallet {
  readonly wallet: PublicWallet;
  readonly walletFile: string;
  readonly passphraseFile: string;
}

/**
 * Opens the configured wallet's public side; in development a wallet is made on first start.
 *
 * @throws {Error} when there is none outside development, or one that was made for development
 */
export async function openWallet(config: Config, networks: readonly Network[]): Promise<Wallet> {
  const walletFile = config.walletFile ?? `${config.dataDir}/wallet.json`;
  const passphraseFile = config.walletPassphraseFile ?? `${config.dataDir}/wallet-passphrase`;
  if (config.environment === "development" && await readKept(walletFile) === null) {
    const passphraseIsRandom = await readKept(passphraseFile) === null;
    if (passphraseIsRandom) await keep(passphraseFile, randomHex());
    const passphrase = (await Deno.readTextFile(passphraseFile)).trim();
    await createWallet({
      file: walletFile,
      passphrase,
      passphraseIsRandom,
      networks,
      development: true,
    });
  }
  const wallet = await openConfiguredWallet(config, walletFile);
  return { wallet, walletFile, passphraseFile };
}

/**
 * Reads the public side of the wallet that is configured.
 *
 * @throws {Error} when there is none, or outside development one that was made for it
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
    throw new Error(`Cannot open the wallet as WALLET_FILE names no file: ${walletFile}`);
  }
  if (wallet.development && config.environment !== "development") {
    throw new Error(
      `Cannot open the wallet as WALLET_FILE names one that was made for development: ${walletFile}`,
    );
  }
  return wallet;
}

/** Networks that a new development wallet has accounts for. */
export const SUPPORTED_NETWORKS = ["TRX", "TRX_SHASTA"] as const satisfies readonly Network[];

/**
 * Binds the database to the wallet.
 *
 * @throws when the database belongs to another wallet
 */
export async function registerWallets(
  sql: Sql,
  wallet: PublicWallet,
  chains: ReadonlyMap<Network, Chain>,
): Promise<void> {
  for (const [network, chain] of chains) {
    await registerWallet(sql, network, wallet.walletId, chain.hotWallet);
  }
}
