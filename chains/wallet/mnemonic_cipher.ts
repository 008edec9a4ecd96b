/**
 * Encrypts the mnemonic: AES-256-GCM under a key that scrypt makes of the passphrase.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { scrypt } from "node:crypto";
import { authenticatedData, type WalletFile, type WalletHeader } from "./wallet_file.ts";

/**
 * OWASP's scrypt setting with the smallest memory (32 MB) at full strength; about 0.3 s.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
export const KDF_COST = { N: 2 ** 15, r: 8, p: 3 } as const;
/** For passphrases that are random bits themselves; about 0.05 s. */
export const RANDOM_KDF_COST = { N: 2 ** 14, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
const TAG_BITS = 128;

/** Stretches the passphrase. */
function deriveKey(passphrase: string, kdf: WalletHeader["kdf"]): Promise<Buffer> {
  const { N, r, p } = kdf;
  const salt = Buffer.from(kdf.salt, "base64");
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase.normalize("NFKC"),
      salt,
      KEY_BYTES,
      { N, r, p, maxmem: 160 * N * r },
      (error, key) => error === null ? resolve(key) : reject(error),
    );
  });
}

/** The AES key of a passphrase; not extractable. */
async function cipherKey(
  passphrase: string,
  kdf: WalletHeader["kdf"],
  usage: "encrypt" | "decrypt",
): Promise<CryptoKey> {
  const raw = await deriveKey(passphrase, kdf);
  const copy = Uint8Array.from(raw);
  try {
    return await crypto.subtle.importKey("raw", copy, "AES-GCM", false, [usage]);
  } finally {
    raw.fill(0);
    copy.fill(0);
  }
}

/** Encrypts a mnemonic for a header; the header is authenticated with it. */
export async function encryptMnemonic(
  mnemonic: string,
  passphrase: string,
  header: WalletHeader,
): Promise<WalletFile["cipher"]> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const ciphertext = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv, additionalData: authenticatedData(header), tagLength: TAG_BITS },
    await cipherKey(passphrase, header.kdf, "encrypt"),
    new TextEncoder().encode(mnemonic),
  );
  return {
    name: "AES-256-GCM",
    iv: iv.toBase64(),
    ciphertext: new Uint8Array(ciphertext).toBase64(),
  };
}

/**
 * Decrypts the mnemonic.
 *
 * @throws {Error} when the passphrase is wrong or the file was changed; which one cannot be told
 */
export async function decryptMnemonic(wallet: WalletFile, passphrase: string): Promise<string> {
  const key = await cipherKey(passphrase, wallet.kdf, "decrypt");
  try {
    const plain = await crypto.subtle.decrypt(
      {
        name: "AES-GCM",
        iv: Uint8Array.fromBase64(wallet.cipher.iv),
        additionalData: authenticatedData(wallet),
        tagLength: TAG_BITS,
      },
      key,
      Uint8Array.fromBase64(wallet.cipher.ciphertext),
    );
    const mnemonic = new TextDecoder().decode(plain);
    new Uint8Array(plain).fill(0);
    return mnemonic;
  } catch {
    throw new Error(
      `Cannot unlock the wallet as the passphrase is wrong or the file was changed: ${wallet.walletId}`,
    );
  }
}
