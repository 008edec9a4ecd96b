/**
 * Judges a webhook's host when the URL is set, so that a merchant learns at once that it points
 * into a private network.
 *
 * @module
 */

import type { NameAnswer, NameLookups } from "./name_lookups.ts";
import {
  addressLiteral,
  isAllowedAddress,
  isReachable,
  type UrlRefusal,
  type UrlRules,
} from "./url_guard.ts";

/** Time that a name server may take, milliseconds. */
const RESOLVE_TIMEOUT_MS = 3_000;

/** Time for which a host waits for its turn to be looked up, milliseconds. */
const TURN_MS = 2_000;

/** Reason for which a host is refused; `busy`: it was not judged, as too many are. */
export type HostRefusal = Extract<UrlRefusal, "not_public" | "only_ipv6"> | "busy";

/**
 * True if a host name resolves to public addresses only, and to one of IPv4 among them: others are
 * not called. A name that does not resolve now is let pass: it may exist later, and every connection
 * judges it again.
 *
 * @param url what `checkUrl` allows
 * @param asker whom the look-up counts for
 * @returns null: it is not refused
 */
export async function checkHost(
  url: URL,
  rules: UrlRules,
  names: NameLookups,
  asker: string,
): Promise<HostRefusal | null> {
  if (addressLiteral(url) !== null) return null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), TURN_MS + RESOLVE_TIMEOUT_MS);
  });
  const question = { hostname: url.hostname, asker, use: "check", waitMs: TURN_MS } as const;
  const answer = await Promise.race([names.find(question), late]);
  clearTimeout(timer);
  return answer === null ? null : judge(answer, rules);
}

function judge(answer: NameAnswer, rules: UrlRules): HostRefusal | null {
  switch (answer.kind) {
    case "failed":
      return null;
    case "busy":
      return "busy";
    case "found": {
      const { addresses } = answer;
      const isPublic = addresses.length > 0 &&
        addresses.every(({ address }) => isAllowedAddress(address, rules));
      if (!isPublic) return "not_public";
      return addresses.some(({ address }) => isReachable(address)) ? null : "only_ipv6";
    }
    default: {
      const never: never = answer;
      return never;
    }
  }
}
