/**
 * Which pool serves a request, and what a request may cost the others that share it.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";
import type { ReadSlots } from "./read_slots.ts";
import type { Route } from "./route.ts";

/** The pools of the interface. */
export interface ApiPools {
  /** For keys, for what writes, and for hosted pages. */
  readonly requests: Sql;
  /** For what merchants and resellers list. */
  readonly reads: Sql;
  /** For administrators. */
  readonly operators: Sql;
  readonly slots: ReadSlots;
}

/**
 * The pool that a route's handler works with.
 *
 * @param isOperator whether an administrator asks
 */
export function poolOf(route: Route, pools: ApiPools, isOperator: boolean): Sql {
  const { scope } = route.access;
  if (scope === "admin" || (scope === "reseller" && isOperator)) return pools.operators;
  return isList(route) ? pools.reads : pools.requests;
}

/** True for a route that reads what grows with a merchant's history, or with all of a reseller's merchants. */
export function isList(route: Route): boolean {
  const { scope } = route.access;
  if (scope === "reseller") return route.method === "GET";
  return route.method === "GET" && route.rateCategory === "transactions" &&
    (scope === "own" || scope === "named" || scope === "acting");
}
