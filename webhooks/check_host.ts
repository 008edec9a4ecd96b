/**
 * Judges a webhook's host when the URL is set, so that a merchant learns at once that it points
 * into a private network.
 *
 * @module
 */

import { lookup as systemLookup } from "node:dns";
import type { Resolve } from "./sender.ts";
import { isAllowedAddress, isReachable, type UrlRefusal, type UrlRules } from "./url_guard.ts";

/** How long a name server may take, milliseconds. */
const RESOLVE_TIMEOUT_MS = 3_000;

/** Why a host is refused; null: it is not. */
export type HostRefusal = Extract<UrlRefusal, "not_public" | "only_ipv6"> | null;

/**
 * Whether a host name resolves to public addresses only, and to one of IPv4 among them: others are
 * not called. A name that does not resolve now is let pass: it may exist later, and every connection
 * judges it again.
 */
export function checkHost(
  url: URL,
  rules: UrlRules,
  resolve: Resolve = systemLookup,
): Promise<HostRefusal> {
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return new Promise((done) => {
    const timer = setTimeout(() => done(null), RESOLVE_TIMEOUT_MS);
    resolve(host, { all: true }, (error, addresses) => {
      clearTimeout(timer);
      if (error !== null) return done(null);
      const isPublic = addresses.length > 0 &&
        addresses.every(({ address }) => isAllowedAddress(address, rules));
      if (!isPublic) return done("not_public");
      done(addresses.some(({ address }) => isReachable(address)) ? null : "only_ipv6");
    });
  });
}
