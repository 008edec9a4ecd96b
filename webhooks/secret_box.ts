/**
 * Callback secrets as the database keeps them: encrypted with AES-256-GCM under a key of the
 * environment, bound to their merchant, and marked with the key's id so that keys can be replaced.
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** Beginning of an encrypted secret: form, then the key's id, then nonce and ciphertext. */
const PREFIX = "enc1";
const SEALED = /^enc1:([0-9a-f]{16}):([A-Za-z0-9+/]+=*)$/;

/** Bytes of a nonce of AES-GCM. */
const NONCE_BYTES = 12;

/** Opened secrets that are remembered at most: every delivery asks for one. */
const MOST_REMEMBERED = 10_000;

/** A secret that no key of a box opens, or that was changed; the secret is not shown. */
class UnreadableSecret extends Error {
  override readonly name = "UnreadableSecret";
}

/** Encrypts and decrypts callback secrets. */
export interface SecretBox {
  /** The id of the key that new secrets are encrypted with. */
  readonly keyId: string;
  /** The ids of all keys that it opens secrets with, that one first. */
  readonly keyIds: readonly string[];
  /** Encrypts a merchant's secret under the newest key. */
  seal(secret: string, merchantId: string): Promise<string>;
  /**
   * Decrypts a merchant's secret; one that was never encrypted is returned as it is.
   *
   * @throws {UnreadableSecret} when no key fits, or the text was changed or is another merchant's
   */
  open(kept: string, merchantId: string): Promise<string>;
}

/** Opens a merchant's secret. @returns null where no key opens it, or it was changed */
export async function openIfReadable(
  open: SecretBox["open"],
  kept: string,
  merchantId: string,
): Promise<string | null> {
  try {
    return await open(kept, merchantId);
  } catch (error) {
    if (error instanceof UnreadableSecret) return null;
    throw error;
  }
}

/** The id of the key that a kept secret is encrypted with; null where it is not encrypted. */
export function sealedWith(kept: string): string | null {
  return SEALED.exec(kept)?.[1] ?? null;
}

/**
 * A box over keys of the environment.
 *
 * @param current text of the newest key, at least 32 characters of high entropy
 * @param earlier keys that secrets may still be encrypted with
 */
export async function createSecretBox(
  current: string,
  earlier: readonly string[] = [],
): Promise<SecretBox> {
  const newest = await deriveKey(current);
  const keys = new Map([[newest.id, newest.key]]);
  for (const text of earlier) {
    const { id, key } = await deriveKey(text);
    if (!keys.has(id)) keys.set(id, key);
  }
  const opened = new Map<string, string>();

  function remember(name: string, secret: string): void {
    opened.set(name, secret);
    for (const oldest of opened.keys()) {
      if (opened.size <= MOST_REMEMBERED) break;
      opened.delete(oldest);
    }
  }

  return {
    keyId: newest.id,
    keyIds: [...keys.keys()],
    async seal(secret, merchantId) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const text = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv: nonce, additionalData: encode(merchantId) },
        newest.key,
        encode(secret),
      );
      const bytes = Buffer.concat([nonce, new Uint8Array(text)]);
      return `${PREFIX}:${newest.id}:${bytes.toString("base64")}`;
    },
    async open(kept, merchantId) {
      const found = SEALED.exec(kept);
      if (found === null) return kept;
      const name = `${merchantId} ${kept}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const [, id = "", text = ""] = found;
      const key = keys.get(id);
      if (key === undefined) {
        throw new UnreadableSecret(`Cannot decrypt a callback secret of the key ${id}`);
      }
      const bytes = new Uint8Array(Buffer.from(text, "base64"));
      const secret = await decrypt(key, bytes, merchantId);
      remember(name, secret);
      return secret;
    },
  };
}

async function decrypt(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  merchantId: string,
): Promise<string> {
  try {
    const plain = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: bytes.subarray(0, NONCE_BYTES), additionalData: encode(merchantId) },
      key,
      bytes.subarray(NONCE_BYTES),
    );
    return new TextDecoder().decode(plain);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new UnreadableSecret(
      `Cannot decrypt the callback secret of ${merchantId}: it was changed`,
    );
  }
}

/** The AES key of a text, and a name for it that says nothing of it. */
async function deriveKey(text: string): Promise<{ readonly id: string; readonly key: CryptoKey }> {
  const material = await crypto.subtle.importKey("raw", encode(text), "HKDF", false, [
    "deriveKey",
    "deriveBits",
  ]);
  const hkdf = (info: string) => ({
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(0),
    info: encode(info),
  });
  const key = await crypto.subtle.deriveKey(
    hkdf("callback secrets"),
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
  const id = await crypto.subtle.deriveBits(
    hkdf("id of the key of callback secrets"),
    material,
    64,
  );
  return { id: new Uint8Array(id).toHex(), key };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
