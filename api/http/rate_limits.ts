/**
 * The published limits: which requests count against what.
 *
 * @module
 */

import type { Answer } from "./answer.ts";
import { addressBucket } from "./client_address.ts";
import { rateLimitExceeded } from "./errors.ts";
import type { Caller } from "./permission.ts";
import { type Allowance, KnownSessions, RateWindows } from "./rate_windows.ts";

/** Which of the published limits a request counts against. */
export type RateCategory =
  | "balance"
  | "deposits"
  | "withdrawals"
  | "transactions"
  | "webhooks"
  /** Polling of one hosted page, counted per session token. */
  | "hosted"
  /** Routes without a key, counted per client address; health apart from the reference. */
  | "public"
  | "health"
  | "none";

/** Categories with windows of their own, so that a flood of buckets costs no other category one of its own. */
type CountedCategory =
  | Exclude<RateCategory, "none">
  | "authentication"
  | "unknownKey"
  | "unknownPage"
  | "pagesOfAddress"
  | "documentsOfAddress";

/** Requests per minute where nothing else is set for the merchant. */
export const DEFAULT_LIMITS: Readonly<
  Record<CountedCategory, number>
> = {
  /** Failed authentications per client address. */
  authentication: 100,
  /** Look-ups of keys that do not exist or are not answered yet, per client address. */
  unknownKey: 1_000,
  balance: 1_000,
  deposits: 100,
  withdrawals: 50,
  transactions: 500,
  webhooks: 1_000,
  /** Per hosted page. */
  hosted: 240,
  /** Of hosted pages that were not found, or not yet, per client address. */
  unknownPage: 600,
  /**
   * Of all hosted pages together, per client address: what 1,500 open pages ask behind one address. Pages
   * that are made for it would otherwise multiply what one address may ask.
   */
  pagesOfAddress: 12_000,
  /** Of them the documents, which cost ten times what a poll does: a page is opened once. */
  documentsOfAddress: 2_400,
  /** Of the reference, per client address. */
  public: 600,
  /** Of health and metrics, per client address; several tools may ask from one. */
  health: 3_000,
};

/** The keys of a merchant together have as many times the requests of one. */
const KEYS_AT_ONCE = 4;

/** Bytes of an answer that one request pays for: more than a page of ordinary rows has. */
const BYTES_PER_REQUEST = 131_072;
/** Beyond it, so many bytes count as one more request. */
const BYTES_PER_MORE = 16_384;

/** The parts of a request that are counted. */
export interface Counted {
  readonly caller: Caller | null;
  /** Hash of the session token of a hosted page, hex; null where the request names none. */
  readonly sessionHash: string | null;
  /** True for the document of a hosted page, not a poll. */
  readonly isDocument?: boolean;
  /** Client address, null where it is not known. */
  readonly address: string | null;
}

/** The result of counting a request: headers of its answer, and the 429 where it is one too many. */
export interface Counting {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Answer | null;
  /** The windows it was counted in. */
  readonly buckets: readonly Bucket[];
}

/** The window a request was counted in. */
interface Bucket {
  readonly category: CountedCategory;
  /** Of its window. */
  readonly name: string;
  readonly limit: number;
  /** End of the window, Unix milliseconds. */
  readonly endsAt: number;
}

/** A request that counts against nothing. */
export const NOT_COUNTED: Counting = { headers: {}, refusal: null, buckets: [] };

/** The limits of one node. */
export class RateLimits {
  readonly #windows = new Map<CountedCategory, RateWindows>();
  readonly #known = new KnownSessions();

  /** Counts a request of a route. */
  count(category: RateCategory, request: Counted, now: number): Counting {
    if (category === "none") return NOT_COUNTED;
    // Administrators are not merchants: seeding a thousand of them is no misuse. What upstream
    // systems send with an administrator's key is counted.
    if (request.caller?.role === "ADMIN" && category !== "webhooks") return NOT_COUNTED;
    if (category === "hosted") return this.#countPage(request, now);
    const { caller, address } = request;
    const limit = caller?.rateLimits[category] ?? DEFAULT_LIMITS[category];
    if (limit === 0) return NOT_COUNTED;
    if (caller === null) return this.#take(category, addressBucket(address), limit, now);
    const ofKey = this.#take(category, caller.keyId, limit, now);
    if (ofKey.refusal !== null || caller.merchantId === null) return ofKey;
    const ofMerchant = this.#take(category, caller.merchantId, KEYS_AT_ONCE * limit, now);
    if (ofMerchant.refusal !== null) {
      this.#giveBack(ofKey);
      return ofMerchant;
    }
    return { ...ofKey, buckets: [...ofKey.buckets, ...ofMerchant.buckets] };
  }

  /** True for a request of a hosted page that is not known, or not yet. */
  isUnknownPage({ buckets }: Counting): boolean {
    return buckets.some(({ category }) => category === "unknownPage");
  }

  /** A hosted page exists: requests of it are counted apart from now on. */
  knowPage(sessionHash: string): void {
    this.#known.add(sessionHash);
  }

  /**
   * A request of a hosted page found its page: it counts against the page, and no longer among what
   * opens none from its client address, which may be that of many customers.
   */
  foundPage(counting: Counting, request: Counted, now: number): Counting {
    const { sessionHash } = request;
    if (!this.isUnknownPage(counting) || sessionHash === null) return counting;
    if (counting.refusal === null) this.#giveBack(counting);
    this.knowPage(sessionHash);
    return this.#countKnown(sessionHash, request, now);
  }

  /** Counts a failed authentication; only requests that fail are ever turned away by it. */
  countFailure(address: string | null, now: number): Counting {
    const category = "authentication";
    return this.#take(category, addressBucket(address), DEFAULT_LIMITS[category], now);
  }

  /** Counts the look-up of a key that is not remembered; {@linkcode foundKey} takes it back. */
  countLookUp(address: string | null, now: number): Counting {
    const category = "unknownKey";
    return this.#take(category, addressBucket(address), DEFAULT_LIMITS[category], now);
  }

  /**
   * A key that was looked up exists: its look-up no longer counts, so that one address may bring any
   * number of merchants at once, as a platform does after the service was started again.
   */
  foundKey(counting: Counting): void {
    this.#giveBack(counting);
  }

  /**
   * Lets a large answer count as more than one request.
   *
   * @returns the headers of the answer, and the 429 where other large answers have used up meanwhile
   *   what the request was counted against
   */
  weigh(counted: Counting, bytes: number, now: number): Pick<Counting, "headers" | "refusal"> {
    let { headers } = counted;
    if (bytes <= BYTES_PER_REQUEST) return { headers, refusal: null };
    const more = Math.ceil((bytes - BYTES_PER_REQUEST) / BYTES_PER_MORE);
    for (const bucket of counted.buckets) {
      const remaining = this.#windowsOf(bucket.category).weigh(bucket.name, bucket.limit, more);
      if (remaining === null) return usedUp(bucket, now);
      if (remaining < Number(headers["ratelimit-remaining"])) {
        headers = { ...headers, "ratelimit-remaining": String(remaining) };
      }
    }
    return { headers, refusal: null };
  }

  /** The 429 where large answers have used up meanwhile what a request was counted against. */
  overdrawn({ buckets }: Counting, now: number): Answer | null {
    const used = buckets.find(({ category, name }) => this.#windowsOf(category).isOverdrawn(name));
    return used === undefined ? null : usedUp(used, now).refusal;
  }

  #countPage(request: Counted, now: number): Counting {
    const { sessionHash, address } = request;
    if (sessionHash !== null && this.#known.has(sessionHash)) {
      return this.#countKnown(sessionHash, request, now);
    }
    return this.#take("unknownPage", addressBucket(address), DEFAULT_LIMITS.unknownPage, now);
  }

  /** Counts a request of a page against the page, and among those of all pages from its address. */
  #countKnown(
    sessionHash: string,
    { address, isDocument = false }: Pick<Counted, "address" | "isDocument">,
    now: number,
  ): Counting {
    let counted = this.#take("hosted", sessionHash, DEFAULT_LIMITS.hosted, now);
    const sums: readonly CountedCategory[] = isDocument
      ? ["pagesOfAddress", "documentsOfAddress"]
      : ["pagesOfAddress"];
    for (const category of sums) {
      if (counted.refusal !== null) return counted;
      const sum = this.#take(category, addressBucket(address), DEFAULT_LIMITS[category], now);
      if (sum.refusal !== null) {
        this.#giveBack(counted);
        return sum;
      }
      counted = { ...counted, buckets: [...counted.buckets, ...sum.buckets] };
    }
    return counted;
  }

  #take(category: CountedCategory, bucket: string, limit: number, now: number): Counting {
    const allowance = this.#windowsOf(category).take(bucket, limit, now);
    const { window: name, endsAt } = allowance;
    return {
      ...counting(category, allowance, now),
      buckets: [{ category, name, limit, endsAt }],
    };
  }

  #giveBack({ buckets }: Counting): void {
    for (const { category, name, endsAt } of buckets) {
      this.#windowsOf(category).giveBack(name, endsAt);
    }
  }

  #windowsOf(category: CountedCategory): RateWindows {
    let windows = this.#windows.get(category);
    if (windows === undefined) this.#windows.set(category, windows = new RateWindows());
    return windows;
  }
}

/** The names that merchants know, where a category is counted in several ways. */
const PUBLISHED: Partial<Record<CountedCategory, string>> = {
  unknownKey: "authentication",
  unknownPage: "hosted",
  pagesOfAddress: "hosted",
  documentsOfAddress: "hosted",
};

function usedUp({ category, limit, endsAt }: Bucket, now: number) {
  return counting(category, { allowed: false, limit, remaining: 0, endsAt }, now);
}

function counting(
  category: CountedCategory,
  allowance: Omit<Allowance, "window">,
  now: number,
): Pick<Counting, "headers" | "refusal"> {
  const seconds = String(Math.ceil((allowance.endsAt - now) / 1_000));
  return {
    headers: {
      "ratelimit-limit": String(allowance.limit),
      "ratelimit-remaining": String(allowance.remaining),
      "ratelimit-reset": seconds,
    },
    refusal: allowance.allowed
      ? null
      : rateLimitExceeded(PUBLISHED[category] ?? category, allowance, seconds),
  };
}
