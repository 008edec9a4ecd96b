import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";

/** First key of the locks; the second is made of the merchant's id. */
const ENDPOINTS = 0x686f6f6b;

/**
 * Locks what is known of a merchant's endpoint and what it is owed until the transaction ends. Who
 * writes that takes this lock first, before any row, and those of several merchants in the order of
 * {@linkcode endpointKey}: rows come and go, so that their order alone would not keep two writers
 * from waiting for each other.
 */
export async function lockEndpoint(tx: AnySql, merchantId: string): Promise<void> {
  await tx`SELECT ${endpointLock(tx, endpointKey(tx, tx`${merchantId}::text`))}`;
}

/** Second key of a merchant's lock. */
export function endpointKey(sql: AnySql, merchantId: Fragment): Fragment {
  return sql`hashtext(${merchantId})`;
}

/** Call that takes the lock of a key. */
export function endpointLock(sql: AnySql, key: Fragment): Fragment {
  return sql`pg_advisory_xact_lock(${ENDPOINTS}::int, ${key})`;
}

/** Call that takes the lock of a key where it is free, and answers whether it was. */
export function tryEndpointLock(sql: AnySql, key: Fragment): Fragment {
  return sql`pg_try_advisory_xact_lock(${ENDPOINTS}::int, ${key})`;
}
