/**
 * Secrets that callbacks are signed with, and the signatures that prove to a receiver who sent a
 * delivery. There are two over the same bytes: the interface's own (hex, keyed by the text of the
 * secret) and the one of Standard Webhooks 1.0.0 (base64 over `id.timestamp.body`, keyed by the
 * decoded secret), for which receivers find ready-made libraries.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";
import type { SentType } from "./events.ts";

/** Beginning of every secret. */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** @throws {RangeError} when the text is no secret of this service; its value is not shown */
function standardKey(secret: string): Uint8Array {
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
    : new Uint8Array(0);
  if (key.length === 0) throw new RangeError("Cannot sign a delivery as the secret is malformed");
  return key;
}

/** Secrets that a delivery is signed with. */
export interface SigningSecrets {
  /** The newest secret. */
  readonly current: string;
  /** The secret before it while both are valid, otherwise null. */
  readonly previous: string | null;
}

/** One delivery, as it is signed. */
interface Signable {
  /** The event's id, the same on every redelivery. */
  readonly eventId: string;
  readonly type: SentType;
  /** Time of this attempt, Unix seconds. */
  readonly timestamp: number;
  /** The exact body that is sent; UTF-8. */
  readonly body: string;
}

/** Lowercase hex HMAC-SHA256 of the exact body, keyed by the UTF-8 bytes of the secret. */
export function hexSignature(secret: string, body: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** One entry of the `webhook-signature` header: `v1,<base64>`. */
export function standardSignature(secret: string, delivery: Signable): string {
  const signed = `${delivery.eventId}.${delivery.timestamp}.${delivery.body}`;
  return `v1,${createHmac("sha256", standardKey(secret)).update(signed).digest("base64")}`;
}

/**
 * The headers that name and sign one attempt.
 *
 * @returns header names as they are sent, without `Content-Type`
 * @throws {RangeError} when a secret is malformed
 */
export function signedHeaders(
  { current, previous }: SigningSecrets,
  delivery: Signable,
): Record<string, string> {
  const timestamp = String(delivery.timestamp);
  const headers: Record<string, string> = {
    "X-Webhook-Event": delivery.type,
    "X-Webhook-Id": delivery.eventId,
    "X-Webhook-Timestamp": timestamp,
    "X-Webhook-Signature": hexSignature(current, delivery.body),
    "webhook-id": delivery.eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standardSignature(current, delivery),
  };
  if (previous !== null) {
    headers["X-Webhook-Signature-Previous"] = hexSignature(previous, delivery.body);
    headers["webhook-signature"] += ` ${standardSignature(previous, delivery)}`;
  }
  return headers;
}
