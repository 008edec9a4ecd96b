/**
 * Which addresses merchants may have us call. A webhook URL is text from outside that this service
 * connects to from inside its own network, so everything that is not a public address is refused,
 * by name when the URL is set and by address at every connection.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/** Exceptions to public https addresses. */
export interface UrlRules {
  /** Development only: plain http, and addresses of this machine. */
  readonly allowLoopback: boolean;
  /** Followed by a customer's browser and never called by us: it may be reachable over IPv6 alone. */
  readonly browserOnly?: boolean;
}

/** Reason for which a URL is refused. */
export type UrlRefusal =
  | "malformed"
  | "too_long"
  | "not_https"
  | "has_credentials"
  | "not_public"
  /** Reachable over IPv6 alone, where the runtime's permissions could not be a second wall. */
  | "only_ipv6";

/** Result of a URL's check. */
export type UrlCheck =
  | { readonly kind: "allowed"; readonly url: URL }
  | { readonly kind: "refused"; readonly reason: UrlRefusal };

/** Longest URL that is stored, in characters. */
export const LONGEST_URL = 2_048;

/** Azure's host agent: a public address that is local to every virtual machine there. */
const PUBLIC_BUT_LOCAL = new Set(["168.63.129.16"]);

/**
 * Ends of names that mean something on one machine or in one network only: names that are reserved
 * for it (RFC 6761, 6762, 7686, 8375, 9476; ICANN on `.internal`), and what many networks use.
 */
const NOT_PUBLIC_NAMES = [
  "alt",
  "corp",
  "home",
  "home.arpa",
  "internal",
  "intranet",
  "invalid",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "onion",
  "private",
  "svc",
  "test",
];

const ROUTED_IPV6 = ipaddr.IPv6.parse("2000::");
const ROUTED_IPV6_BITS = 3;

/** Four decimal numbers or IPv6; not the shorter spellings that some programs read as addresses. */
function isAddressText(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/**
 * Checks the text of a URL. A host name is not resolved here: {@linkcode isAllowedAddress} judges
 * what it resolves to, each time a connection is made.
 */
export function checkUrl(text: string, rules: UrlRules): UrlCheck {
  if (text.length > LONGEST_URL) return { kind: "refused", reason: "too_long" };
  if (!URL.canParse(text)) return { kind: "refused", reason: "malformed" };
  const url = new URL(text);
  const isHttp = url.protocol === "http:";
  if (url.protocol !== "https:" && !(isHttp && rules.allowLoopback)) {
    return { kind: "refused", reason: "not_https" };
  }
  if (url.username !== "" || url.password !== "") {
    return { kind: "refused", reason: "has_credentials" };
  }
  const literal = addressLiteral(url);
  if (literal !== null && !isAllowedAddress(literal, rules)) {
    return { kind: "refused", reason: "not_public" };
  }
  if (literal !== null && rules.browserOnly !== true && !isReachable(literal)) {
    return { kind: "refused", reason: "only_ipv6" };
  }
  // by its text alone: whether such a name resolves would tell what there is in our own network
  const isCalled = !rules.allowLoopback && rules.browserOnly !== true;
  if (literal === null && isCalled && !isPublicName(url.hostname)) {
    return { kind: "refused", reason: "not_public" };
  }
  return { kind: "allowed", url };
}

/** True if a host name may be one of the public: it has several labels and no reserved end. */
function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "");
  return name.includes(".") && !NOT_PUBLIC_NAMES.some((end) => name.endsWith(`.${end}`));
}

/**
 * The address in the URL's host where it is written as one, otherwise null. The URL parser has
 * already turned decimal, octal and hexadecimal forms into four numbers.
 */
export function addressLiteral(url: URL): string | null {
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return isAddressText(host) ? host : null;
}

/**
 * True if a connection to this address may be made: a public unicast address, seen through IPv4
 * written as IPv6. Private, loopback, link-local (cloud metadata), carrier-grade NAT, NAT64, 6to4,
 * Teredo, documentation and multicast ranges are not.
 *
 * @param address IPv4 or IPv6 text; any other text is refused
 */
export function isAllowedAddress(address: string, rules: UrlRules): boolean {
  if (!isAddressText(address)) return false;
  const parsed = ipaddr.process(address);
  if (PUBLIC_BUT_LOCAL.has(parsed.toString())) return false;
  const range = parsed.range();
  if (rules.allowLoopback && range === "loopback") return true;
  // The library calls everything without a special name unicast, also `::10.0.0.1`; what is routed
  // publicly lies in 2000::/3 (RFC 4291, IANA IPv6 address space).
  return range === "unicast" &&
    (parsed instanceof ipaddr.IPv4 || parsed.match(ROUTED_IPV6, ROUTED_IPV6_BITS));
}

/**
 * True if connections are made to an allowed address: IPv4, and this machine in development. The
 * second wall around the sender is Deno's network permission, which knows no ranges of IPv6
 * addresses, and a hole in it for all of them would be none.
 */
export function isReachable(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || address === "::1";
}
