/**
 * What proves to a receiver that a delivery is ours. Two signatures over the same bytes: the
 * interface's own (hex, keyed by the text of the secret) and the one of Standard Webhooks 1.0.0
 * (base64 over `id.timestamp.body`, keyed by the decoded secret), for which receivers find
 * ready-made libraries.
 *
 * @module
 */

import type { SentType } from "./event_type.ts";
import { hmacSha256 } from "./hmac.ts";
import { standardKey } from "./secret.ts";

const encoder = new TextEncoder();

/** What a delivery is signed with. */
export interface SigningSecrets {
  /** The newest secret. */
  readonly current: string;
  /** The secret before it while both are valid, otherwise null. */
  readonly previous: string | null;
}

/** One delivery, as it is signed. */
export interface Signable {
  /** The event's id, the same on every redelivery. */
  readonly eventId: string;
  readonly type: SentType;
  /** Time of this attempt, Unix seconds. */
  readonly timestamp: number;
  /** The exact body that is sent; UTF-8. */
  readonly body: string;
}

/**
 * Lowercase hex HMAC-SHA256 of the body, keyed by the UTF-8 bytes of the secret.
 *
 * @param body the exact bytes (or their UTF-8 text) of the request body
 */
export function hexSignature(secret: string, body: string): string {
  return hmacSha256(encoder.encode(secret), body, "hex");
}

/** One entry of the `webhook-signature` header: `v1,<base64>`. */
export function standardSignature(secret: string, delivery: Signable): string {
  const signed = `${delivery.eventId}.${delivery.timestamp}.${delivery.body}`;
  return `v1,${hmacSha256(standardKey(secret), signed, "base64")}`;
}

/**
 * The headers that name and sign one attempt.
 *
 * @returns header names as they are sent, without `Content-Type`
 * @throws {RangeError} when a secret is malformed
 */
export function signedHeaders(
  secrets: SigningSecrets,
  delivery: Signable,
): Record<string, string> {
  const timestamp = String(delivery.timestamp);
  const headers: Record<string, string> = {
    "X-Webhook-Event": delivery.type,
    "X-Webhook-Id": delivery.eventId,
    "X-Webhook-Timestamp": timestamp,
    "X-Webhook-Signature": hexSignature(secrets.current, delivery.body),
    "webhook-id": delivery.eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standardSignature(secrets.current, delivery),
  };
  if (secrets.previous !== null) {
    headers["X-Webhook-Signature-Previous"] = hexSignature(secrets.previous, delivery.body);
    headers["webhook-signature"] += ` ${standardSignature(secrets.previous, delivery)}`;
  }
  return headers;
}
