/**
 * What the worker that calls merchants' endpoints may touch: the second wall behind the URL guard.
 *
 * @module
 */

import { publicIpv4Ranges } from "./public_ranges.ts";
import type { UrlRules } from "./url_guard.ts";

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
