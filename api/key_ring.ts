/**
 * Who holds which key. Keys are read from the database by hash, together for all requests that ask
 * at the same time, and remembered for at most a second, so that a revoked key or a suspended
 * account is noticed within that time.
 *
 * @module
 */

import { batcher, type LoadMany } from "../ledger/queries/batcher.ts";
import type { StoredKey } from "../ledger/queries/find_api_keys.ts";
import { type Environment, hashApiKey, parseApiKey } from "./api_key.ts";
import { NOTE_AGE_MS } from "./key_usage.ts";
import type { Caller } from "./permission.ts";

/** How long a key is remembered, milliseconds. */
export const KEY_MEMORY_MS = 1_000;

/** Keys that are remembered at most, known and unknown ones together. */
const LARGEST_MEMORY = 10_000;

interface Remembered {
  readonly caller: Caller | null;
  readonly until: number;
}

/** Finds out who holds a key. */
export interface KeyRing {
  /**
   * The holder of a key; at once where it is remembered.
   *
   * @param key the text that was sent
   * @param now Unix milliseconds
   * @returns null for a key that is malformed, of another environment, unknown, revoked or expired
   */
  find(key: string, now: number): Caller | null | Promise<Caller | null>;
  /** Reads the keys of a merchant (null: of the administrators) anew from now on. */
  forget(merchantId: string | null): void;
}

/**
 * A key ring over a query.
 *
 * @param noteUse told of a key whose last use was noted a while ago, or never
 */
export function createKeyRing(
  load: LoadMany<StoredKey>,
  environment: Environment,
  noteUse: (keyId: string) => void = () => {},
): KeyRing {
  const memory = new Map<string, Remembered>();
  const read = batcher(load);

  function remember(hash: string, caller: Caller | null, until: number): void {
    memory.delete(hash);
    memory.set(hash, { caller, until });
    for (const oldest of memory.keys()) {
      if (memory.size <= LARGEST_MEMORY) break;
      memory.delete(oldest);
    }
  }

  async function look(hash: string, now: number): Promise<Caller | null> {
    const stored = await read(hash);
    const caller = stored === undefined ? null : callerOf(stored);
    remember(hash, caller, now + KEY_MEMORY_MS);
    const valid = stillValid(caller, now);
    if (valid !== null && (stored?.lastUsedAt ?? 0) < now - NOTE_AGE_MS) noteUse(valid.keyId);
    return valid;
  }

  return {
    find(key, now) {
      if (parseApiKey(key) !== environment) return null;
      const hash = hashApiKey(key);
      const remembered = memory.get(hash);
      // A clock that was set back must not stretch the memory.
      if (
        remembered !== undefined && now < remembered.until &&
        remembered.until - now <= KEY_MEMORY_MS
      ) {
        return stillValid(remembered.caller, now);
      }
      return look(hash, now);
    },
    forget(merchantId) {
      for (const [hash, { caller }] of memory) {
        if (caller?.merchantId === merchantId) memory.delete(hash);
      }
    },
  };
}

function stillValid(caller: Caller | null, now: number): Caller | null {
  return caller !== null && caller.expiresAt !== null && caller.expiresAt <= now ? null : caller;
}

function callerOf(key: StoredKey): Caller {
  return {
    keyId: key.id,
    role: key.role,
    merchantId: key.merchantId,
    isActive: key.merchantId === null || key.merchantStatus === "ACTIVE",
    permissions: key.permissions,
    ipAllowlist: key.ipAllowlist,
    expiresAt: key.expiresAt,
    rateLimits: key.rateLimits,
  };
}
