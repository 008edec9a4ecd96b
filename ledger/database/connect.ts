/**
 * A pool of connections to PostgreSQL.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import postgres from "postgres";
import { type ConnectionTerms, DatabaseConnection } from "./database_connection.ts";
import { classifyDatabaseError, connectionFault } from "./database_errors.ts";
import { type DatabaseUrl, type Host, parseDatabaseUrl } from "./database_url.ts";
import { guardTransactions } from "./guard_transactions.ts";
import { openTransport } from "./open_transport.ts";
import { type PoolFigures, PoolState } from "./pool_state.ts";
import { type AskHost, PrimaryFinder } from "./primary_finder.ts";
import type { ReadPace } from "./read_pace.ts";
import {
  judgeSession,
  LOOKING_UP,
  PINNED,
  preparation,
  startupOptions,
} from "./session_settings.ts";

/** The pool and what its queries return; see `npm:postgres`. */
export type Sql = postgres.Sql;
/** The same inside a transaction. */
export type TransactionSql = postgres.TransactionSql;
/** Either of them: for queries that work in and out of a transaction. */
export type AnySql = postgres.ISql;

/** Options of {@linkcode connect}. */
export interface ConnectOptions {
  /**
   * Most connections at a time; default 10. Transactions have half as many of their own besides, at
   * least one, closed after a minute without use.
   */
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
   * Bound of the server's silence while something was asked, milliseconds; default: the bound of
   * a statement and 5 s, or never where that has none. The query fails as with a lost connection.
   */
  readonly silenceMs?: number;
  /**
   * True if a server is refused whose settings put what it acknowledged at risk (`fsync = off`);
   * default false.
   */
  readonly durable?: boolean;
  /** Pace at which large answers are read; default: as fast as they come. */
  readonly pace?: ReadPace;
  /** True if the role may only read, so that a server that takes no writes is not noticed; default false. */
  readonly readsOnly?: boolean;
}

/** Pause before a lost connection is tried again, milliseconds. */
const RECONNECT_MS = 100;

/** Milliseconds beyond the bound of a statement, for the server to answer that it gave up. */
const SILENCE_MARGIN_MS = 5_000;

/** Seconds without a transaction after which a connection for transactions is closed. */
const IDLE_TRANSACTIONS_S = 60;

/** Bound of the question whether a server is the primary, milliseconds. */
const ASK_HOST_MS = 1_500;

/** Figures of a pool's connections: a statement never waits for one of transactions, nor the reverse. */
export interface ConnectionFigures {
  readonly statements: PoolFigures;
  readonly transactions: PoolFigures;
}

const states = new WeakMap<Sql, Readonly<Record<keyof ConnectionFigures, PoolState>>>();

/**
 * Opens a pool; connections are made when they are first needed. Of several hosts the one that is a
 * writable primary is used; a promotion is followed.
 *
 * `numeric` and `bigint` columns arrive as strings, `timestamptz` as `Date` (milliseconds).
 *
 * @param url `postgres://user:password@host:port,host:port/database`
 * @throws {Error} when the URL is malformed
 */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const parsed = parseDatabaseUrl(url);
  if (!parsed.ok) throw new Error(`Cannot connect as the database's URL ${parsed.fault}`);
  const { database } = parsed;
  const [first] = database.hosts;
  const finder = database.hosts.length > 1 || first === undefined
    ? new PrimaryFinder(
      database.hosts,
      askHost(database, options.readsOnly ?? false),
      () => performance.now(),
    )
    : null;
  return open(database, options, finder);
}

/** Figures of the connections of a pool of {@linkcode connect}. */
export function poolFigures(sql: Sql): ConnectionFigures {
  const state = states.get(sql);
  if (state === undefined) throw new Error("Cannot tell the figures of a pool of another origin");
  return { statements: state.statements.figures, transactions: state.transactions.figures };
}

function open(database: DatabaseUrl, options: ConnectOptions, finder: PrimaryFinder | null): Sql {
  outliveLostConnections();
  const max = options.max ?? 10;
  const transactions = transactionsOf(max);
  const monotonic = () => performance.now();
  const state = {
    statements: new PoolState(max, monotonic),
    transactions: new PoolState(transactions, monotonic),
  };
  const connections = new Set<DatabaseConnection>();
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const connectTimeoutMs = options.connectTimeoutMs ?? 3_000;
  const session: Readonly<Record<string, string>> = {
    ...PINNED,
    ...(options.looksUpOnly === true ? LOOKING_UP : {}),
    statement_timeout: String(statementTimeoutMs),
  };
  const needs = {
    primary: database.writable,
    writes: database.writable && !(options.readsOnly ?? false),
    durable: options.durable ?? false,
  };
  const [first = { host: "localhost", port: 5432 }] = database.hosts;
  const terms: Omit<ConnectionTerms, "autocommit" | "changed"> = {
    open: (signal) => openAny(database, first, finder, signal),
    silenceMs: options.silenceMs ??
      (statementTimeoutMs === 0 ? null : statementTimeoutMs + SILENCE_MARGIN_MS),
    preparation: preparation(session),
    judge: (answer) => judgeSession(answer, needs),
    replaced: finder,
    pace: options.pace ?? null,
  };
  const changedOf =
    (kind: keyof ConnectionFigures): ConnectionTerms["changed"] => (connection, what) => {
      state[kind].changed(connection, what);
      if (what === "gone") connections.delete(connection);
      else connections.add(connection);
    };
  const statementTerms = { ...terms, autocommit: true, changed: changedOf("statements") };
  const transactionTerms = { ...terms, autocommit: false, changed: changedOf("transactions") };
  if (finder !== null) {
    finder.onReplaced = (primary) => connections.forEach((one) => one.leaveAllBut(primary));
  }
  // what the library's types do not know
  const driver = (size: number, unknown: Readonly<Record<string, unknown>>) =>
    postgres(database.url, {
      // TLS and the choice of a host are the socket's
      ...{ ssl: false },
      ...unknown,
      host: first.host.startsWith("/") ? "localhost" : first.host,
      port: first.port,
      max: size,
      connect_timeout: connectTimeoutMs / 1_000,
      // The library's own back-off grows to 20 s; a server that returns must be used within 2 s.
      backoff: () => RECONNECT_MS / 1_000,
      onnotice: (notice) => logEvent("database.notice", { message: notice.message ?? "" }),
      connection: {
        application_name: options.applicationName ?? "engine",
        options: startupOptions(session),
      },
    });
  const sql = guardTransactions(
    driver(max, {
      socket: () => new DatabaseConnection(statementTerms, first),
      // at most one statement waits behind another on its connection; others take the first that is free
      max_pipeline: 1,
    }),
    driver(transactions, {
      socket: () => new DatabaseConnection(transactionTerms, first),
      idle_timeout: IDLE_TRANSACTIONS_S,
    }),
  );
  states.set(sql, state);
  return sql;
}

/** Connections that a pool of `max` keeps for transactions besides. */
function transactionsOf(max: number): number {
  return Math.ceil(max / 2);
}

/** Connects to the server, or to that of several which is the primary. */
async function openAny(
  { tls }: DatabaseUrl,
  only: Host,
  finder: PrimaryFinder | null,
  signal: AbortSignal,
): ReturnType<ConnectionTerms["open"]> {
  if (finder === null) return { raw: await openTransport(only, tls, signal), place: only };
  const host = await finder.find();
  try {
    return { raw: await openTransport(host, tls, signal), place: host };
  } catch (error) {
    finder.doubt(host);
    throw error;
  }
}

/** Asks a server over a connection of its own. */
function askHost(database: DatabaseUrl, readsOnly: boolean): AskHost {
  return async (host) => {
    const sql = open({ ...database, hosts: [host], writable: false }, {
      max: 1,
      applicationName: "engine-primary",
      connectTimeoutMs: ASK_HOST_MS,
      statementTimeoutMs: ASK_HOST_MS,
      silenceMs: ASK_HOST_MS,
    }, null);
    try {
      const [row] = await sql<{ writable: boolean; timeline: number }[]>`
        SELECT NOT r.recovery AND (${readsOnly} OR current_setting('transaction_read_only') = 'off') AS writable,
               CASE WHEN r.recovery THEN 0
                    ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
               END AS timeline
        FROM (SELECT pg_is_in_recovery() AS recovery) r`;
      if (row === undefined) throw connectionFault("CONNECTION_CLOSED", "it said nothing");
      return row;
    } finally {
      await sql.end({ timeout: 0 });
    }
  };
}

let outliving = false;

/** Part of the question that the library asks on its own behalf when a connection was made. */
const ARRAY_TYPES = "b.typarray";

/**
 * A failed question for array types, which the library asks on its own behalf (postgres 3.4.9,
 * connection.js, fetchArrayTypes), rejects a promise that is never awaited, which would end the
 * process. Every query that was lost with the connection is rejected as well.
 */
function outliveLostConnections(): void {
  if (outliving) return;
  outliving = true;
  globalThis.addEventListener("unhandledrejection", (event) => {
    // a port that is taken has such a code as well: only what was said of a query is a query's
    const isOfQuery = event.reason instanceof Error && "query" in event.reason;
    if (!isOfQuery) return;
    // a time-out of its own costs that connection the types of arrays, and nothing else
    const isOfLibrary = String(event.reason.query).includes(ARRAY_TYPES);
    if (!isOfLibrary && classifyDatabaseError(event.reason) !== "connection") return;
    event.preventDefault();
    logEvent("database.connection_lost", { error: event.reason });
  });
}
