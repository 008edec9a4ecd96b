/**
 * Judges a webhook's host when the URL is set, so that a merchant learns at once that it points
 * into a private network.
 *
 * @module
 */

import { lookup as systemLookup } from "node:dns";
import type { Resolve } from "./sender.ts";
import { isAllowedAddress, isReachable, type UrlRules } from "./url_guard.ts";

/** How long a name server may take, milliseconds. */
const RESOLVE_TIMEOUT_MS = 3_000;

/**
 * Whether a host name resolves to public addresses, at least one of which can be called. A name that does not resolve now is
 * let pass: it may exist later, and every connection judges it again.
 */
export function checkHost(
  url: URL,
  rules: UrlRules,
  resolve: Resolve = systemLookup,
): Promise<boolean> {
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return new Promise((done) => {
    const timer = setTimeout(() => done(true), RESOLVE_TIMEOUT_MS);
    resolve(host, { all: true }, (error, addresses) => {
      clearTimeout(timer);
      done(
        error !== null ||
          addresses.every(({ address }) => isAllowedAddress(address, rules)) &&
            addresses.some(({ address }) => isReachable(address)),
      );
    });
  });
}
