/**
 * API keys and who holds them. A key is `sk_<environment>_<43 base62 digits><6 base62 digits>`: 256
 * random bits, and a CRC-32 of everything before it, so that a mistyped or invented key is known
 * without asking the database and secret scanners make no false finds. Keys are read by hash,
 * together for all requests that ask at the same time, and remembered for at most a second, so that
 * a revoked key or a suspended account is noticed within that time; only refusals for want of room go by what was
 * known a few seconds ago.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { StoredKey } from "../../ledger/api_keys.ts";
import { batcher, type LoadMany } from "../../ledger/database/batcher.ts";
import type { Caller } from "./permission.ts";

const ENVIRONMENTS = ["development", "staging", "production"] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
const RANDOM_DIGITS = 43;
const CHECK_DIGITS = 6;

const SHAPE = /^sk_(development|staging|production)_[0-9A-Za-z]{49}$/;

/** Finds keys in text, for secret scanners. */
export const KEY_PATTERN = /\bsk_(?:development|staging|production)_[0-9A-Za-z]{49}\b/;

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits.padStart(length, "0");
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECK_DIGITS);
}

/** A new key. It is shown once and never stored; {@linkcode hashApiKey} is. */
export function mintApiKey(environment: Environment): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const body = `sk_${environment}_${base62(random, RANDOM_DIGITS)}`;
  return body + checksum(body);
}

/**
 * The environment a key is made for.
 *
 * @returns null when the text is no key: wrong shape or wrong check digits
 */
export function parseApiKey(text: string): Environment | null {
  const match = SHAPE.exec(text);
  if (match === null) return null;
  const body = text.slice(0, -CHECK_DIGITS);
  if (checksum(body) !== text.slice(-CHECK_DIGITS)) return null;
  return match[1] as Environment;
}

/** SHA-256 of a key in lowercase hex; a fast hash is enough for 256 random bits. */
export function hashApiKey(text: string): string {
  return hash("sha256", text, "hex");
}

/** The time that a key is remembered, milliseconds. */
export const KEY_MEMORY_MS = 1_000;

/**
 * The time that a key is remembered for refusals, milliseconds: a flood of many keys is not worth a
 * look-up per key and second, and to refuse a key that was revoked a moment ago does no harm.
 */
const REFUSAL_MEMORY_MS = 5_000;

/** Keys that are remembered at most. */
const LARGEST_MEMORY = 50_000;
/** Texts that are no keys, likewise: of these nothing but the work is lost. */
const LARGEST_MEMORY_OF_UNKNOWN = 10_000;

/** The time after which the next request with a key drops the texts of keys, milliseconds. */
const TEXT_MEMORY_MS = 5_000;
/** Texts that are kept at most; without room they are hashed each time. */
const MOST_TEXTS = 10_000;

/**
 * The hashes of keys that were found a moment ago, by their texts: hashing one anew takes an eighth of what
 * the interface does for a request. All are dropped together, by the first request with a key some seconds after
 * they were dropped before: while there are no such requests, the texts of the last ones stay in memory.
 */
class KeyTexts {
  readonly #hashes = new Map<string, string>();
  #since = -Infinity;

  /** The hash of a text that was kept; undefined where it was not. @param now Unix milliseconds */
  hashOf(text: string, now: number): string | undefined {
    // also where the clock was set back
    if (Math.abs(now - this.#since) >= TEXT_MEMORY_MS) {
      this.#hashes.clear();
      this.#since = now;
    }
    return this.#hashes.get(text);
  }

  /** Keeps the text of a key that was found. */
  keep(text: string, hash: string): void {
    if (this.#hashes.size < MOST_TEXTS) this.#hashes.set(text, hash);
  }
}

interface Remembered {
  readonly caller: Caller;
  readonly until: number;
}

/** The holder of a key. */
export type Holder =
  | Caller
  /** The key is malformed, of another environment, unknown, revoked or expired. */
  | null
  /** It was not looked up, as that was not wanted. */
  | "not_looked_up";

/** Finds out who holds a key. */
export interface KeyRing {
  /**
   * The holder of a key; at once where it is remembered.
   *
   * @param key the text that was sent
   * @param now Unix milliseconds
   * @param mayLookUp asked before a key is looked up that was not found before
   */
  find(key: string, now: number, mayLookUp?: () => boolean): Holder | Promise<Holder>;
  /**
   * The holder of a key that was found within the last {@linkcode REFUSAL_MEMORY_MS} and not forgotten
   * since; otherwise null. For refusals alone: it may have been revoked meanwhile.
   */
  remembered(key: string, now: number): Caller | null;
  /** Reads the keys of a merchant (null: of the administrators) anew from now on. */
  forget(merchantId: string | null): void;
}

/**
 * A key ring over a query.
 *
 * @param recordUse called for a key whose last use was recorded a while ago, or never
 */
export function createKeyRing(
  load: LoadMany<StoredKey>,
  environment: Environment,
  recordUse: (keyId: string) => void = () => {},
): KeyRing {
  // A key stays in memory when it has to be read anew: it was found once, whatever is guessed meanwhile.
  const memory = new Map<string, Remembered>();
  /** Until when a text is known to be no key. */
  const unknownKeys = new Map<string, number>();
  const read = batcher(load);
  const texts = new KeyTexts();

  async function readCaller(hash: string, now: number): Promise<Caller | null> {
    const stored = await read(hash);
    const until = now + KEY_MEMORY_MS;
    if (stored === undefined) {
      memory.delete(hash);
      remember(unknownKeys, hash, until, LARGEST_MEMORY_OF_UNKNOWN);
      return null;
    }
    const caller = callerOf(stored);
    remember(memory, hash, { caller, until }, LARGEST_MEMORY);
    const valid = stillValid(caller, now);
    if (valid !== null && (stored.lastUsedAt ?? 0) < now - RECORD_AGE_MS) recordUse(valid.keyId);
    return valid;
  }

  return {
    find(key, now, mayLookUp = () => true) {
      const known = texts.hashOf(key, now);
      if (known === undefined && !SHAPE.test(key)) return null;
      const hash = known ?? hashApiKey(key);
      // what is remembered was found, so its environment and check digits are right
      const remembered = memory.get(hash);
      if (remembered !== undefined) {
        if (known === undefined) texts.keep(key, hash);
        return isFresh(remembered.until, now)
          ? stillValid(remembered.caller, now)
          : readCaller(hash, now);
      }
      if (parseApiKey(key) !== environment) return null;
      if (isFresh(unknownKeys.get(hash) ?? -Infinity, now)) return null;
      return mayLookUp() ? readCaller(hash, now) : "not_looked_up";
    },
    remembered(key, now) {
      const known = texts.hashOf(key, now);
      if (known === undefined && !SHAPE.test(key)) return null;
      const hash = known ?? hashApiKey(key);
      const found = memory.get(hash);
      if (found !== undefined && known === undefined) texts.keep(key, hash);
      return found !== undefined && isFresh(found.until, now, REFUSAL_MEMORY_MS)
        ? stillValid(found.caller, now)
        : null;
    },
    forget(merchantId) {
      for (const [hash, { caller }] of memory) {
        if (caller.merchantId === merchantId) memory.set(hash, { caller, until: -Infinity });
      }
    },
  };
}

/**
 * True for a key that was read within `memoryMs`. A clock that was set back must not stretch the memory.
 *
 * @param until end of {@linkcode KEY_MEMORY_MS} since then
 */
function isFresh(until: number, now: number, memoryMs = KEY_MEMORY_MS): boolean {
  return now < until + memoryMs - KEY_MEMORY_MS && until - now <= KEY_MEMORY_MS;
}

/** Puts an entry last, dropping the first where there are too many. */
function remember<T>(memory: Map<string, T>, hash: string, entry: T, most: number): void {
  memory.delete(hash);
  memory.set(hash, entry);
  const [oldest] = memory.size > most ? memory.keys() : [];
  if (oldest !== undefined) memory.delete(oldest);
}

function stillValid(caller: Caller, now: number): Caller | null {
  return caller.expiresAt !== null && caller.expiresAt <= now ? null : caller;
}

function callerOf(key: StoredKey): Caller {
  return {
    keyId: key.id,
    role: key.role,
    merchantId: key.merchantId,
    isActive: key.merchantId === null || key.merchantStatus === "ACTIVE",
    permissions: key.permissions,
    administrator: key.administrator,
    needsApproval: key.needsApproval,
    ipAllowlist: key.ipAllowlist,
    expiresAt: key.expiresAt,
    rateLimits: key.rateLimits,
  };
}

/** The age of a recorded use from which the next one is recorded, milliseconds. */
const RECORD_AGE_MS = 5 * 60_000;

/** Makes a function that records a use, some time soon; uses at the same time are written together. */
export function createUsageRecorder(
  mark: (keyIds: readonly string[]) => Promise<void>,
): (keyId: string) => void {
  let waiting = new Set<string>();
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    while (waiting.size > 0) {
      const keyIds = [...waiting];
      waiting = new Set();
      try {
        await mark(keyIds);
      } catch (error) {
        // the next use records it: nothing depends on it
        logEvent("http.key_use_unrecorded", { error });
      }
    }
    writing = false;
  }

  return (keyId) => {
    waiting.add(keyId);
    if (!writing) void write();
  };
}
