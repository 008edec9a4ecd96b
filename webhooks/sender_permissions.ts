/**
 * Permissions of the worker that calls merchants' endpoints: the second wall behind the URL guard.
 *
 * @module
 */

import type { UrlRules } from "./url_guard.ts";

/**
 * Ranges that are not public: IANA's special-purpose registry and what {@linkcode isAllowedAddress}
 * refuses besides. A test compares the two.
 */
const NOT_PUBLIC = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** A range: the first address as a number, and how many leading bits are fixed. */
interface Range {
  readonly first: number;
  readonly bits: number;
}

function parse(text: string): Range {
  const [address = "", bits = ""] = text.split("/");
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, bits: Number(bits) };
}

function format({ first, bits }: Range): string {
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return `${parts.join(".")}/${bits}`;
}

const size = ({ bits }: Range) => 2 ** (32 - bits);

function contains(outer: Range, inner: Range): boolean {
  return inner.first >= outer.first && inner.first + size(inner) <= outer.first + size(outer);
}

/**
 * Public IPv4 addresses as ranges in CIDR notation, the fewest that hold exactly them.
 */
export function publicIpv4Ranges(): readonly string[] {
  const excluded = NOT_PUBLIC.map(parse);
  const keep = (range: Range): readonly Range[] => {
    if (excluded.some((one) => contains(one, range))) return [];
    if (!excluded.some((one) => contains(range, one))) return [range];
    const bits = range.bits + 1;
    const low = { first: range.first, bits };
    return [...keep(low), ...keep({ first: range.first + size(low), bits })];
  };
  return keep({ first: 0, bits: 0 }).map(format);
}

/**
 * Permissions of a sender worker: connections to public IPv4 addresses and nothing else, so that an
 * address that slipped through the guard is refused by the runtime. Names are resolved outside the
 * worker. Deno's permissions know ranges of IPv4 addresses but none of IPv6.
 */
export function senderPermissions(rules: UrlRules): Deno.PermissionOptionsObject {
  return {
    net: [...publicIpv4Ranges(), ...(rules.allowLoopback ? ["127.0.0.0/8", "[::1]"] : [])],
    read: false,
    write: false,
    env: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}
