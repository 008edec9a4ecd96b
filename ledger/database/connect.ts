/**
 * A pool of connections to PostgreSQL.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import postgres from "postgres";
import { classifyDatabaseError } from "./classify_database_error.ts";

const log = getLogger(["engine", "database"]);

/** The pool and what its queries return; see `npm:postgres`. */
export type Sql = postgres.Sql;
/** The same inside a transaction. */
export type TransactionSql = postgres.TransactionSql;
/** Either of them: for queries that work in and out of a transaction. */
export type AnySql = postgres.ISql;

/** How {@linkcode connect} works. */
export interface ConnectOptions {
  /** Most connections at a time; default 10. */
  readonly max?: number;
  /** Shown in `pg_stat_activity` and in the server's log; default `engine`. */
  readonly applicationName?: string;
  /** The server gives up a statement after this long, milliseconds; default 30,000; 0 = never. */
  readonly statementTimeoutMs?: number;
  /**
   * Says that every statement looks rows up by key: plans are made once and always by index. A plan
   * that was made while the tables were small would otherwise read whole tables until they are
   * next analyzed. Default false.
   */
  readonly looksUpOnly?: boolean;
  /** Bound of one attempt to connect, milliseconds; default 3,000. */
  readonly connectTimeoutMs?: number;
}

/** Pause before a lost connection is tried again, milliseconds. */
const RECONNECT_MS = 100;

const LOOKING_UP = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/**
 * Opens a pool; connections are made when they are first needed.
 *
 * `numeric` and `bigint` columns arrive as strings, `timestamptz` as `Date` (milliseconds).
 *
 * @param url `postgres://user:password@host:port/database`
 */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  outliveLostConnections();
  return postgres(url, {
    max: options.max ?? 10,
    connect_timeout: (options.connectTimeoutMs ?? 3_000) / 1_000,
    // The library's own back-off grows to 20 s; a server that returns must be used within 2 s.
    backoff: () => RECONNECT_MS / 1_000,
    onnotice: (notice) => log.debug("notice: {message}", { message: notice.message ?? "" }),
    connection: {
      application_name: options.applicationName ?? "engine",
      statement_timeout: options.statementTimeoutMs ?? 30_000,
      // A transaction that its owner forgot must not hold its locks for ever.
      idle_in_transaction_session_timeout: 60_000,
      TimeZone: "UTC",
      ...(options.looksUpOnly === true ? LOOKING_UP : {}),
    },
  });
}

let outliving = false;

/**
 * A connection lost while the library asks for array types on its own behalf (postgres 3.4.9,
 * connection.js, fetchArrayTypes) rejects a promise that nobody awaits, which would end the process;
 * every query of ours that was lost with it is told of it as well.
 */
function outliveLostConnections(): void {
  if (outliving) return;
  outliving = true;
  globalThis.addEventListener("unhandledrejection", (event) => {
    if (classifyDatabaseError(event.reason) !== "connection") return;
    event.preventDefault();
    log.warn("a connection was lost while it was set up: {error}", { error: event.reason });
  });
}
