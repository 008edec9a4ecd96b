/**
 * The public side of a wallet file: enough to watch and to hand out addresses, not to spend.
 *
 * @module
 */

import type { Network } from "../../ledger/pair.ts";
import { type PublicAccount, readWalletFile } from "./wallet_file.ts";

/** A wallet without its secrets. */
export interface PublicWallet {
  /** `wal_<uuid>`. */
  readonly walletId: string;
  /** Account by network: `accountIndex`, `xpub`, `hotWallet`. */
  readonly networks: Readonly<Partial<Record<Network, PublicAccount>>>;
}

/**
 * Reads the public part of a wallet file; no passphrase is needed.
 *
 * @throws {Deno.errors.NotFound} when there is none
 * @throws {Error} when it is malformed or other users may change it
 */
export async function openPublicWallet(file: string): Promise<PublicWallet> {
  const { walletId, networks } = await readWalletFile(file);
  return { walletId, networks };
}
