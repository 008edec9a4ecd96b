/**
 * The public side of a wallet: enough to watch and to hand out addresses, not to spend. It is read
 * from the wallet file itself, or from a file that has nothing else in it, for services whose
 * signer is a process of its own.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { z } from "zod";
import type { Network } from "../../ledger/money/pair.ts";
import {
  canonical,
  type PublicAccount,
  publicPartSchema,
  readAs,
  WALLET_VERSION,
  walletFileSchema,
} from "./wallet_file.ts";

/** A wallet without its secrets. */
export interface PublicWallet {
  /** `wal_<uuid>`. */
  readonly walletId: string;
  /** True if a first start in development made it. */
  readonly development: boolean;
  /** Deposit branch and hot wallet by network. */
  readonly networks: Readonly<Partial<Record<Network, PublicAccount>>>;
}

const publicFileSchema = publicPartSchema.extend({
  format: z.literal("payment-wallet-public"),
  version: z.literal(WALLET_VERSION),
});
const eitherSchema = z.discriminatedUnion("format", [walletFileSchema, publicFileSchema]);

/**
 * Reads the public part of a wallet file, or a public file; no passphrase is needed.
 *
 * @throws {Deno.errors.NotFound} when there is none
 * @throws {WalletFault} when it is malformed, of the old form, or other users may read or change it
 */
export async function openPublicWallet(file: string): Promise<PublicWallet> {
  const { walletId, development, networks } = await readAs(file, eitherSchema);
  return { walletId, development, networks };
}

/**
 * True if a file has the encrypted words beside the public part.
 *
 * @throws {WalletFault} when it is malformed, of the old form, or other users may read or change it
 */
export async function holdsWords(file: string): Promise<boolean> {
  return (await readAs(file, eitherSchema)).format === "payment-wallet";
}

/**
 * The text of a public file. It is confidential: it tells all deposit addresses, and with one deposit key
 * it gives their keys. A changed one would redirect the deposits.
 */
export function publicFileText({ walletId, development, networks }: PublicWallet): string {
  const file: z.infer<typeof publicFileSchema> = {
    format: "payment-wallet-public",
    version: WALLET_VERSION,
    walletId,
    development,
    networks,
  };
  return JSON.stringify(file, null, 2);
}

/** A digest by which service and signer find out whether they have the same wallet. */
export function fingerprintOf({ walletId, development, networks }: PublicWallet): string {
  return sha256(utf8ToBytes(canonical({ walletId, development, networks }))).toHex();
}

/**
 * A digest of one network's public part, for the database: other networks may be added to a wallet later.
 *
 * @returns 64 hexadecimal digits; null where the wallet has no account of the network
 */
export function networkFingerprint(
  { walletId, development, networks }: PublicWallet,
  network: Network,
): string | null {
  const account = networks[network];
  if (account === undefined) return null;
  return sha256(utf8ToBytes(canonical({ walletId, development, network, account }))).toHex();
}
