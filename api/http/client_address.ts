/**
 * The address a request came from. A forwarded address counts only when the connection comes from a proxy
 * that the operator trusts; otherwise anybody could claim to be anywhere.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/** True where an address is one of a list of addresses and CIDR ranges. */
export function isListed(address: string, list: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const candidate = ipaddr.process(address);
  return list.some((entry) => {
    const range = parseRange(entry);
    return range !== null && range[0].kind() === candidate.kind() && candidate.match(range);
  });
}

/** True where every address of an entry is one of a list of addresses and CIDR ranges. */
export function isWithin(entry: string, list: readonly string[]): boolean {
  const inner = parseRange(entry);
  return inner !== null && list.some((other) => {
    const outer = parseRange(other);
    return outer !== null && outer[0].kind() === inner[0].kind() && outer[1] <= inner[1] &&
      inner[0].match(outer);
  });
}

/** True where a text is an address or CIDR range, written in full. */
export function isAddressOrRange(text: string): boolean {
  const address = text.split("/")[0] ?? "";
  // a zone means something on one machine only
  if (address.includes("%")) return false;
  const isFull = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isFull && parseRange(text) !== null;
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function parseRange(entry: string): Range | null {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry)) return null;
  const address = ipaddr.process(entry);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/**
 * The address of the client. Where a trusted proxy does not name one it is not known: were it the
 * proxy's own, a key that is bound to a network of the proxy's would be accepted from everywhere.
 *
 * @param peer address of the connection, undefined where it has none
 * @param forwarded value of `X-Forwarded-For`
 * @param trusted addresses and ranges of our own proxies
 * @returns the last address of the chain that is not one of our proxies; null when unknown
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | null,
  trusted: readonly string[],
): string | null {
  if (peer === undefined) return null;
  if (!isListed(peer, trusted)) return peer;
  const chain = forwarded?.split(",") ?? [];
  for (const hop of chain.toReversed()) {
    const address = withoutPort(hop.trim());
    if (!ipaddr.isValid(address)) return null;
    if (!isListed(address, trusted)) return address;
  }
  return null;
}

/** An address that a proxy names, where it wrote the client's port beside it: `1.2.3.4:80`, `[::1]:80`. */
function withoutPort(hop: string): string {
  const found = /^\[([^\]]*)\](?::\d{1,5})?$|^([^:]*):\d{1,5}$/.exec(hop);
  return found?.[1] ?? found?.[2] ?? hop;
}

/**
 * The name under which a client's address is counted: an IPv6 client has a whole /64 to send from,
 * so that counts as one.
 */
export function addressBucket(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : parsed.toByteArray().slice(0, 8).join(".") + "/64";
}

/** A name, an IPv4 or an IPv6 address, with or without a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.~-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * True where a Host header names a host and nothing else. The address of a request is put together
 * from it, so a path in it would be taken for the path that was asked for. HTTP/2 has no such header.
 */
export function isHost(header: string | null): boolean {
  return header !== null && HOST.test(header);
}
