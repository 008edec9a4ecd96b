/**
 * Secrets that callbacks are signed with, in the form that Standard Webhooks libraries read.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";

/** What every secret begins with. */
const SECRET_PREFIX = "whsec_";

const SECRET_BYTES = 32;

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/**
 * The key of the Standard Webhooks signature: the decoded part after the prefix.
 *
 * @throws {RangeError} when the text is not a secret of ours; its value is not shown
 */
export function standardKey(secret: string): Uint8Array {
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
    : new Uint8Array(0);
  if (key.length === 0) {
    throw new RangeError("Cannot sign a delivery as the secret is malformed");
  }
  return key;
}
