/**
 * A pool of connections to PostgreSQL.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import postgres from "postgres";
import { classifyDatabaseError } from "./classify_database_error.ts";
import { watchedSockets } from "./watched_socket.ts";

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
  /**
   * How long the server may be silent while something was asked, milliseconds; default: the bound of
   * a statement and 5 s, or never where that has none. The query fails as with a lost connection.
   */
  readonly silenceMs?: number;
}

/** Pause before a lost connection is tried again, milliseconds. */
const RECONNECT_MS = 100;

/** Beyond the bound of a statement, for the server to say that it gave up, milliseconds. */
const SILENCE_MARGIN_MS = 5_000;

/** How soon either end asks an idle connection whether the other is still there, seconds. */
const KEEP_ALIVE_S = 15;

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
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const silenceMs = options.silenceMs ??
    (statementTimeoutMs === 0 ? null : statementTimeoutMs + SILENCE_MARGIN_MS);
  // what the library's types do not know
  const sockets = { socket: watchedSockets(silenceMs) };
  return postgres(url, {
    ...sockets,
    keep_alive: KEEP_ALIVE_S,
    max: options.max ?? 10,
    connect_timeout: (options.connectTimeoutMs ?? 3_000) / 1_000,
    // The library's own back-off grows to 20 s; a server that returns must be used within 2 s.
    backoff: () => RECONNECT_MS / 1_000,
    onnotice: (notice) => log.debug("notice: {message}", { message: notice.message ?? "" }),
    connection: {
      application_name: options.applicationName ?? "engine",
      statement_timeout: statementTimeoutMs,
      // A transaction that its owner forgot must not hold its locks for ever.
      idle_in_transaction_session_timeout: 60_000,
      // nor one that was cut off from it
      tcp_keepalives_idle: KEEP_ALIVE_S,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
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
    // a port that is taken has such a code as well: only what was said of a query is a query's
    const isOfQuery = event.reason instanceof Error && "query" in event.reason;
    if (!isOfQuery || classifyDatabaseError(event.reason) !== "connection") return;
    event.preventDefault();
    log.warn("a connection was lost while it was set up: {error}", { error: event.reason });
  });
}
