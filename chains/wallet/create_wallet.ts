/**
 * Makes a wallet, new or from a mnemonic.
 *
 * @module
 */

import { generateMnemonic, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { Network } from "../../ledger/money/pair.ts";
import { encryptMnemonic, KDF_COST, RANDOM_KDF_COST } from "./mnemonic_cipher.ts";
import { masterKey, networkKeys, publicAccount, wipeNetworkKeys } from "./network_keys.ts";
import { openPublicWallet, type PublicWallet } from "./public_wallet.ts";
import { exportMnemonic } from "./unlock_wallet.ts";
import {
  readWalletFile,
  WALLET_VERSION,
  type WalletHeader,
  writeWalletFile,
} from "./wallet_file.ts";

/** 24 words. */
const ENTROPY_BITS = 256;
const SHORTEST_PASSPHRASE = 12;

/** Ingredients of a wallet. */
export interface CreateWalletOptions {
  /** Path of the new file. */
  readonly file: string;
  /** At least 12 characters. */
  readonly passphrase: string;
  /**
   * True if the passphrase is at least 128 random bits, which cannot be guessed: then it is hardly
   * stretched, because that would only make every start slower. Default false.
   */
  readonly passphraseIsRandom?: boolean;
  readonly networks: readonly Network[];
  /** True if it is for development; staging and production refuse it then. Default false. */
  readonly development?: boolean;
  /** English BIP-39 words to import; generated (24 words) when absent. */
  readonly mnemonic?: string;
}

/** Lower case, single spaces. */
function tidy(mnemonic: string): string {
  return mnemonic.normalize("NFKD").trim().toLowerCase().split(/\s+/).join(" ");
}

/**
 * Makes a wallet and writes its file. The mnemonic is not returned: backing it up is a step of its
 * own (see `exportMnemonic`).
 *
 * @throws {TypeError} when the mnemonic or passphrase is unfit, or a network is not supported
 * @throws {Deno.errors.AlreadyExists} when the file exists
 */
export async function createWallet(options: CreateWalletOptions): Promise<PublicWallet> {
  const mnemonic = options.mnemonic === undefined
    ? generateMnemonic(wordlist, ENTROPY_BITS)
    : tidy(options.mnemonic);
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new TypeError("Cannot import the mnemonic as its words or checksum are wrong");
  }
  requireLong(options.passphrase);
  const master = await masterKey(mnemonic);
  const networks: WalletHeader["networks"] = {};
  for (const network of options.networks) {
    const keys = networkKeys(master, network);
    networks[network] = publicAccount(keys, network);
    wipeNetworkKeys(keys);
  }
  master.wipePrivateData();
  const header: WalletHeader = {
    format: "payment-wallet",
    version: WALLET_VERSION,
    walletId: `wal_${crypto.randomUUID()}`,
    createdAt: new Date().toISOString(),
    development: options.development ?? false,
    networks,
    kdf: {
      name: "scrypt",
      ...(options.passphraseIsRandom === true ? RANDOM_KDF_COST : KDF_COST),
      salt: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
    },
  };
  const cipher = await encryptMnemonic(mnemonic, options.passphrase, header);
  await writeWalletFile(options.file, { ...header, cipher });
  return await openPublicWallet(options.file);
}

/** A wallet that is encrypted with another passphrase. */
export interface ReencryptOptions {
  readonly file: string;
  readonly passphrase: string;
  /** Path of the new file. */
  readonly newFile: string;
  /** At least 12 characters. */
  readonly newPassphrase: string;
}

/**
 * Writes the same wallet to a new file, encrypted with another passphrase: services and databases know it
 * as the one it was. The earlier file is left as it is.
 *
 * @throws {TypeError} when the new passphrase is unfit
 * @throws {Deno.errors.AlreadyExists} when the new file exists
 * @throws {Error} when the earlier passphrase is wrong, or the earlier file was changed
 */
export async function reencryptWallet(options: ReencryptOptions): Promise<PublicWallet> {
  const { file, passphrase, newFile, newPassphrase } = options;
  requireLong(newPassphrase);
  const { cipher: _earlier, ...kept } = await readWalletFile(file);
  const mnemonic = await exportMnemonic(file, passphrase);
  const salt = crypto.getRandomValues(new Uint8Array(32)).toBase64();
  const header = { ...kept, kdf: { ...kept.kdf, ...KDF_COST, salt } };
  const cipher = await encryptMnemonic(mnemonic, newPassphrase, header);
  await writeWalletFile(newFile, { ...header, cipher });
  return await openPublicWallet(newFile);
}

function requireLong(passphrase: string): void {
  if (passphrase.length >= SHORTEST_PASSPHRASE) return;
  throw new TypeError(
    `Cannot protect a wallet as the passphrase is shorter than ${SHORTEST_PASSPHRASE} characters`,
  );
}
