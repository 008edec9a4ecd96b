/**
 * Tokens of hosted payment pages. A token is made from the session's id and nonce with the
 * service's secret, so that a merchant's list can show the address of the page again although only
 * the token's hash is stored.
 *
 * @module
 */

import { createHash, createHmac } from "node:crypto";

/** Makes tokens; holds the secret. */
export interface SessionTokens {
  /**
   * The token of a session.
   *
   * @param sessionId `ses_...`
   * @param nonce random, kept with the session
   * @returns 43 characters of base64url
   */
  of(sessionId: string, nonce: string): string;
}

/** Tokens under a secret; another secret makes other tokens, and old pages are found no more. */
export function createSessionTokens(secret: string): SessionTokens {
  return {
    of: (sessionId, nonce) =>
      createHmac("sha256", secret).update(`${sessionId}.${nonce}`).digest("base64url"),
  };
}

/** True for a text with the shape of a token; only the database knows whether it opens a page. */
export function isSessionToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** The stored part of a token: its SHA-256. */
export function hashSessionToken(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
