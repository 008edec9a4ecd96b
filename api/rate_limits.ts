/**
 * The published limits: which requests count against what.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import type { Answer } from "./answer.ts";
import { rateLimitExceeded } from "./errors.ts";
import type { Caller } from "./permission.ts";
import { type Allowance, RateWindows } from "./rate_windows.ts";
import type { RateCategory } from "./route.ts";

/** Requests per minute where nothing else is set for the merchant. */
export const DEFAULT_LIMITS: Readonly<
  Record<Exclude<RateCategory, "none"> | "authentication", number>
> = {
  /** Failed authentications per client address. */
  authentication: 100,
  balance: 1_000,
  deposits: 100,
  withdrawals: 50,
  transactions: 500,
  webhooks: 1_000,
  /** Per session token. */
  hosted: 240,
};

/** The shape of session tokens: other text is as long, and as new each time, as its sender likes. */
const TOKEN = /^[\w-]{43}$/;

/** What a request tells about who should be counted. */
export interface Counted {
  readonly caller: Caller | null;
  /** The session token of a hosted page, where the request has one. */
  readonly sessionToken: string | null;
  /** Client address, null where it is not known. */
  readonly address: string | null;
}

/** What became of counting a request: headers of its answer, and the 429 where it is one too many. */
export interface Counting {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Answer | null;
}

const NOT_COUNTED: Counting = { headers: {}, refusal: null };

/** The limits of one node. */
export class RateLimits {
  readonly #windows = new RateWindows();

  /** Counts a request of a route. */
  count(category: RateCategory, request: Counted, now: number): Counting {
    if (category === "none") return NOT_COUNTED;
    // Administrators are not merchants: seeding a thousand of them is no misuse. What upstream
    // systems send with an administrator's key is counted.
    if (request.caller?.role === "ADMIN" && category !== "webhooks") return NOT_COUNTED;
    const limit = request.caller?.rateLimits[category] ?? DEFAULT_LIMITS[category];
    if (limit === 0) return NOT_COUNTED;
    const { sessionToken } = request;
    const bucket = category === "hosted" && sessionToken !== null && TOKEN.test(sessionToken)
      ? sessionToken
      : request.caller?.keyId ?? addressBucket(request.address);
    return counting(category, this.#windows.take(`${category}/${bucket}`, limit, now), now);
  }

  /** Counts a failed authentication; only requests that fail are ever turned away by it. */
  countFailure(address: string | null, now: number): Counting {
    const category = "authentication";
    const bucket = `${category}/${addressBucket(address)}`;
    return counting(category, this.#windows.take(bucket, DEFAULT_LIMITS[category], now), now);
  }
}

function counting(category: string, allowance: Allowance, now: number): Counting {
  const seconds = String(Math.ceil((allowance.endsAt - now) / 1_000));
  return {
    headers: {
      "ratelimit-limit": String(allowance.limit),
      "ratelimit-remaining": String(allowance.remaining),
      "ratelimit-reset": seconds,
    },
    refusal: allowance.allowed ? null : rateLimitExceeded(category, allowance, seconds),
  };
}

/** An IPv6 client has a whole /64 to send from, so that counts as one. */
function addressBucket(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : parsed.toByteArray().slice(0, 8).join(".") + "/64";
}
