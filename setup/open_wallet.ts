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

/** Opens the configured wallet; in development one is made on first start. */
export async function openWallet(config: Config, networks: readonly Network[]): Promise<Wallet> {
  const walletFile = config.walletFile ?? `${config.dataDir}/wallet.json`;
  const passphraseFile = config.walletPassphraseFile ?? `${config.dataDir}/wallet-passphrase`;
  if (config.environment === "development" && await readKept(walletFile) === null) {
    const passphraseIsRandom = await readKept(passphraseFile) === null;
    if (passphraseIsRandom) await keep(passphraseFile, randomHex());
    const passphrase = (await Deno.readTextFile(passphraseFile)).trim();
    await createWallet({ file: walletFile, passphrase, passphraseIsRandom, networks });
  }
  return { wallet: await openPublicWallet(walletFile), walletFile, passphraseFile };
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
