/** A name, an IPv4 or an IPv6 address, with or without a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.~-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * True where a Host header names a host and nothing else. The address of a request is put together
 * from it, so a path in it would be taken for the path that was asked for. HTTP/2 has no such header.
 */
export function isHost(header: string | null): boolean {
  return header !== null && HOST.test(header);
}
