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
import type { Network } from "../../ledger/pair.ts";
import {
  canonical,
  type PublicAccount,
  publicPartSchema,
  readAs,
  walletFileSchema,
} from "./wallet_file.ts";

/** A wallet without its secrets. */
export interface PublicWallet {
  /** `wal_<uuid>`. */
  readonly walletId: string;
  /** Whether a first start in development made it. */
  readonly development: boolean;
  /** Account by network: `accountIndex`, `xpub`, `hotWallet`. */
  readonly networks: Readonly<Partial<Record<Network, PublicAccount>>>;
}

const publicFileSchema = publicPartSchema.extend({
  format: z.literal("payment-wallet-public"),
  version: z.literal(1),
});
const eitherSchema = z.discriminatedUnion("format", [walletFileSchema, publicFileSchema]);

/**
 * Reads the public part of a wallet file, or a public file; no passphrase is needed.
 *
 * @throws {Deno.errors.NotFound} when there is none
 * @throws {Error} when it is malformed or other users may change it
 */
export async function openPublicWallet(file: string): Promise<PublicWallet> {
  const { walletId, development, networks } = await readAs(file, eitherSchema);
  return { walletId, development, networks };
}

/** The text of a public file. It is no secret, but whoever changes it receives the deposits. */
export function publicFileText({ walletId, development, networks }: PublicWallet): string {
  const file: z.infer<typeof publicFileSchema> = {
    format: "payment-wallet-public",
    version: 1,
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
