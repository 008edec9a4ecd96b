import type { Registry } from "prom-client";
import { ReadSlots } from "../../api/http/read_slots.ts";
import { SharedPlaces } from "../../api/http/shared_places.ts";
import { poolFigures, type Sql } from "../../ledger/database/connect.ts";
import { registerFigures, registerSingle } from "./figures.ts";

/** For how long all connections of a pool may be busy without a break before it is reported. */
const EXHAUSTED_MS = 10_000;
/** Time for which a list, a hosted page or a redelivery waits for its turn. */
const LIST_WAIT_MS = 2_000;

/**
 * The turns of merchants' lists: as many as the pool has connections for statements, half of them for
 * one merchant. A list that has its turn then waits for no other.
 */
export function openReadSlots(reads: Sql): ReadSlots {
  const { limit } = poolFigures(reads).statements;
  return new ReadSlots({
    slots: limit,
    perMerchant: Math.max(Math.floor(limit / 2), 1),
    waitMs: LIST_WAIT_MS,
  });
}

/**
 * The places of hosted pages: two for each connection for statements, so that none is idle between one
 * and the next, half of them for one page.
 */
export function openPagePlaces(pages: Sql): SharedPlaces {
  const { limit } = poolFigures(pages).statements;
  return new SharedPlaces({ slots: 2 * limit, perMerchant: limit, waitMs: LIST_WAIT_MS });
}

/**
 * The places of redeliveries and of what else locks a merchant's outbox: half of the connections that
 * requests have for transactions, one for a merchant, whose others would wait for its lock on a
 * connection each. Few of a merchant wait: each holds one of the places of all changes meanwhile.
 */
export function openRedeliveryPlaces(requests: Sql): SharedPlaces {
  const { limit } = poolFigures(requests).transactions;
  const slots = Math.max(Math.floor(limit / 2), 1);
  return new SharedPlaces({ slots, perMerchant: 1, waitMs: LIST_WAIT_MS, waitingPerMerchant: 4 });
}

/** Names the pools whose connections for statements, or for transactions, have all been busy for long. */
export function poolReasons(pools: ReadonlyMap<string, Sql>): string[] {
  return [...pools].flatMap(([name, sql]) =>
    longestExhausted(sql) < EXHAUSTED_MS
      ? []
      : [`database: all connections for ${name} have been busy for long`]
  );
}

/** Milliseconds for which all connections of one kind have been busy without a break. */
function longestExhausted(sql: Sql): number {
  const { statements, transactions } = poolFigures(sql);
  return Math.max(statements.exhaustedMs, transactions.exhaustedMs);
}

/** Registers how the pools fare; read when Prometheus asks. */
export function registerPoolMetrics(
  registry: Registry,
  pools: ReadonlyMap<string, Sql>,
  slots: ReadSlots,
): void {
  const byUse = () =>
    [...pools].flatMap(([pool, sql]) => {
      const { statements, transactions } = poolFigures(sql);
      return [
        [[pool, "statements"], statements] as const,
        [[pool, "transactions"], transactions] as const,
      ];
    });
  registerFigures(registry, byUse, {
    engine_database_connections_limit: ({ limit }) => limit,
    engine_database_pool_exhausted_seconds: ({ exhaustedMs }) => exhaustedMs / 1_000,
  });
  const byState = () =>
    byUse().flatMap(([[pool, use], { open, busy }]) => [
      [[pool, use, "open"], open] as const,
      [[pool, use, "busy"], busy] as const,
    ]);
  registerFigures(registry, byState, { engine_database_connections: (count) => count });
  registerSingle(registry, {
    engine_database_lists_waiting: () => slots.figures.waiting,
    engine_database_lists_refused_total: () => slots.figures.refused,
  });
}
