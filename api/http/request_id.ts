/**
 * Names of requests, shown in every response and in our log.
 *
 * @module
 */

/** A new request id, for example `req_6f1c...`. */
export function newRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll("-", "")}`;
}
