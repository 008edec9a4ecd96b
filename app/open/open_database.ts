import { connect, type Sql } from "../../ledger/database/connect.ts";
import {
  migrate,
  type Migration,
  MIGRATION_STATEMENT_MS,
  readMigrations,
} from "../../ledger/database/migrate.ts";
import { ReadPace } from "../../ledger/database/read_pace.ts";
import type { Config } from "../config/config.ts";
import { startEmbeddedPostgres } from "../postgres/embedded.ts";

/**
 * The database, migrated, with its pools. What waits in one of them costs the others nothing: slow
 * lists take no connection from the actors, nor from the journal or from health.
 */
export interface Database {
  /** For all actors but merchants: chains, payouts, sweeps, callbacks, timers. */
  readonly sql: Sql;
  /** Of the journal: nothing waits in front of money. */
  readonly journalSql: Sql;
  /** For requests that look up keys or write: each a few rows by key. */
  readonly requestSql: Sql;
  /** For hosted pages, which anybody may ask for: a few rows by key. */
  readonly pageSql: Sql;
  /** For what merchants list; a statement that takes long is given up soon. */
  readonly readSql: Sql;
  /** For administrators. */
  readonly operatorSql: Sql;
  /** For what decides whether this node is ready: nothing else can be in its way. */
  readonly readinessSql: Sql;
  /** For further reasons of readiness, and for metrics: a locked table holds up only what is read of it. */
  readonly detailsSql: Sql;
  /** Every pool, by the name that metrics and readiness call it. */
  readonly pools: ReadonlyMap<string, Sql>;
  readonly url: string;
  /** The migrations that its schema has. */
  readonly migrations: readonly Migration[];
  /** Closes the pools, and the server where it is embedded. */
  close(): Promise<void>;
}

/** Connections that the journal's batch uses at once: three reads, or one write. */
const JOURNAL_POOL = 4;
/** Bound of a statement of a merchant's list, or of a hosted page, milliseconds. */
const READ_MS = 5_000;
/** Bound of a statement of a request that looks up a key or writes, milliseconds. */
const REQUEST_MS = 10_000;
/** Bound of a statement that decides whether this node is ready, or that adds reasons, milliseconds. */
const READINESS_MS = 2_000;
/** Connections for further reasons: one for each of its three parts, and one for metrics. */
const DETAILS_POOL = 4;

/**
 * Connects to the configured PostgreSQL, or starts the embedded one, and migrates it. Nothing that it
 * started runs on where it throws.
 *
 * @throws {MigrationMismatch} where the database and this version do not fit together
 * @throws {UnusableFolder} where the data folder's cluster and this version do not
 * @throws {Error} code `UNSAFE_SERVER`: outside development, where its settings put at risk what it
 *   acknowledges; the message names the setting
 * @throws {OtherEnvironment} where the database was begun in another environment
 */
export async function openDatabase(
  config: Pick<Config, "databaseUrl" | "databasePool" | "dataDir" | "environment">,
): Promise<Database> {
  const migrations = await readMigrations();
  const embedded = config.databaseUrl === null
    ? await startEmbeddedPostgres({ dataDir: config.dataDir })
    : null;
  const url = config.databaseUrl?.reveal() ?? embedded?.nearestUrl ?? "";
  const durable = config.environment !== "development";
  const migrating = connect(url, {
    max: 1,
    applicationName: "engine-migrate",
    statementTimeoutMs: MIGRATION_STATEMENT_MS,
    durable,
  });
  try {
    await migrate(migrating, migrations, config.environment);
  } catch (error) {
    await migrating.end({ timeout: 5 });
    // it would outlive the process, which ends for this
    await embedded?.stop();
    throw error;
  }
  await migrating.end({ timeout: 5 });
  const shares = sharePool(config.databasePool);
  const sql = connect(url, { max: shares.actors, applicationName: "engine", durable });
  const journalSql = connect(url, {
    max: JOURNAL_POOL,
    applicationName: "engine-journal",
    // all merchants share its batches, and their senders wait 10 s: time to find who is to blame
    statementTimeoutMs: 3_000,
    looksUpOnly: true,
    durable,
  });
  const requestSql = connect(url, {
    max: shares.requests,
    applicationName: "engine-request",
    statementTimeoutMs: REQUEST_MS,
    durable,
  });
  const pageSql = connect(url, {
    max: shares.pages,
    applicationName: "engine-page",
    statementTimeoutMs: READ_MS,
    durable,
  });
  const readSql = connect(url, {
    max: shares.reads,
    applicationName: "engine-read",
    statementTimeoutMs: READ_MS,
    pace: new ReadPace(),
    durable,
  });
  const operatorSql = connect(url, {
    max: shares.operators,
    applicationName: "engine-operator",
    durable,
  });
  const readinessSql = connect(url, {
    max: 1,
    applicationName: "engine-readiness",
    statementTimeoutMs: READINESS_MS,
    durable,
  });
  const detailsSql = connect(url, {
    max: DETAILS_POOL,
    applicationName: "engine-details",
    statementTimeoutMs: READINESS_MS,
    durable,
  });
  const pools = new Map([
    ["actors", sql],
    ["journal", journalSql],
    ["requests", requestSql],
    ["pages", pageSql],
    ["reads", readSql],
    ["operators", operatorSql],
    ["readiness", readinessSql],
    ["details", detailsSql],
  ]);
  return {
    sql,
    journalSql,
    requestSql,
    pageSql,
    readSql,
    operatorSql,
    readinessSql,
    detailsSql,
    pools,
    url,
    migrations,
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.end({ timeout: 5 })));
      await embedded?.stop();
    },
  };
}

/** True if a server was refused because its settings put at risk what it acknowledges. */
export function isUnsafeServer(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "UNSAFE_SERVER";
}

/** Connections by what they are for. */
export interface PoolShares {
  readonly actors: number;
  readonly requests: number;
  readonly pages: number;
  readonly reads: number;
  readonly operators: number;
}

/**
 * Shares the configured connections out. Nearly half of them are the actors', whose work is never
 * refused; a merchant's list may be, so lists wait for fewer, and so may a hosted page.
 *
 * @param connections all of them, 8 or more
 */
export function sharePool(connections: number): PoolShares {
  const reads = Math.floor(connections / 4);
  const requests = Math.max(Math.floor(connections / 8), 1);
  const operators = Math.max(Math.floor(connections / 8), 1);
  const pages = Math.max(Math.floor(connections / 16), 1);
  const actors = connections - reads - requests - operators - pages;
  return { actors, requests, pages, reads, operators };
}

/** The database of a command that works beside the service. */
export interface Books {
  readonly sql: Sql;
  /** Closes the pool; an embedded server goes on running where the service uses it. */
  close(): Promise<void>;
}

/** Connections of a command. */
const POOL = 4;
/** Bound of one statement: a command may read everything there is. */
const STATEMENT_MS = 30 * 60_000;

/** Connects a command to the database of the service, wherever that is. */
export async function openBooks(config: Config): Promise<Books> {
  const embedded = config.databaseUrl === null
    ? await startEmbeddedPostgres({ dataDir: config.dataDir, supervise: false })
    : null;
  const sql = connect(config.databaseUrl?.reveal() ?? embedded?.nearestUrl ?? "", {
    max: POOL,
    applicationName: "engine-command",
    statementTimeoutMs: STATEMENT_MS,
  });
  return {
    sql,
    async close() {
      await sql.end({ timeout: 5 });
      await embedded?.stop();
    },
  };
}
