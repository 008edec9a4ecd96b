/**
 * Codes of errors of a connection: of `npm:postgres` and of the streams that it is given. Whatever
 * was sent over such a connection may or may not have been committed.
 */
export const CONNECTION_FAULTS = [
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  "SASL_SIGNATURE_MISMATCH",
  /** The server said nothing for longer than its own time-outs allow. */
  "SERVER_SILENT",
  /** TLS was not agreed on; a certificate that is not trusted counts. */
  "TLS_REFUSED",
  /** The server is no primary, or takes no writes. */
  "NOT_WRITABLE",
  /** The server's settings put what it acknowledges at risk. */
  "UNSAFE_SERVER",
  /** The wait for the synchronous standby was cancelled: what was committed may be lost yet. */
  "COMMIT_NOT_REPLICATED",
] as const;

/** One of {@linkcode CONNECTION_FAULTS}. */
export type ConnectionFaultCode = typeof CONNECTION_FAULTS[number];

/** Makes an error that counts as a lost connection. */
export function connectionFault(
  code: ConnectionFaultCode,
  why: string,
  cause?: unknown,
): Error & { readonly code: ConnectionFaultCode } {
  const error = new Error(`Cannot use the connection as ${why}`, { cause });
  return Object.assign(error, { code });
}
