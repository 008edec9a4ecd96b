/**
 * Identifiers: a prefix that says what is named, and a UUIDv7, so that ids sort by creation.
 *
 * @module
 */

import { v7 } from "uuid";

/** What each prefix names. */
export const ID_PREFIXES = {
  mer: "merchant",
  dep: "deposit",
  wd: "withdrawal",
  stl: "settlement",
  txn: "transaction",
  adr: "deposit address",
  ses: "hosted session",
  evt: "event",
  key: "API key",
  rsl: "reseller",
  chg: "charge",
  aud: "audit row",
  out: "outgoing transfer",
  rec: "reconciliation",
} as const;

/** One of the prefixes. */
export type IdPrefix = keyof typeof ID_PREFIXES;

/** Mints an id, for example `wd_0193a1b2-...`. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${v7()}`;
}
