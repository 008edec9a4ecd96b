/**
 * A database of its own for a test: a clone of a migrated template on the shared server, or one that
 * another test has left as it was made. `TEST_DATABASE_URL` names another server to use (a role that
 * may create databases), on which nothing is left.
 *
 * @module
 */

import { connect, type ConnectOptions, type Sql } from "../../ledger/database/connect.ts";
import { migrate, readMigrations } from "../../ledger/database/migrate.ts";
import { joinSharedCluster } from "./shared_cluster.ts";
import { leaveSpare, noteTemplate, takeSpare } from "./spare_database.ts";

/** A migrated, otherwise empty database. */
export interface TestDatabase extends AsyncDisposable {
  /** Connection string of the database, over TCP; pools of the database's own take the nearest way. */
  readonly url: string;
  /** A pool of up to 4 connections. */
  readonly sql: Sql;
  /** Opens another pool, closed with the database. */
  connect(options?: ConnectOptions): Sql;
  /** Closes every pool and gives the database away. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@linkcode testDatabase}; the rest is about `database.sql`. */
export interface TestDatabaseOptions extends ConnectOptions {
  /** True: the migrations are applied; default true. */
  readonly migrated?: boolean;
  /** True: no other test may have used it, as its files or statistics are read; default false. */
  readonly unused?: boolean;
}

/** A server that much is asked of at once may take longer for a connection than a service waits. */
const CONNECT_MS = 60_000;

/** Key of the advisory lock under which a template is made. */
const TEMPLATE_LOCK = "4021993307761200145";

/**
 * Makes a database for a test: `await using database = await testDatabase();`
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const { admin, urls } = await joinSharedCluster(async (urls) => {
    const admin = connect(urls.nearestUrl, {
      max: 1,
      applicationName: "test-admin",
      connectTimeoutMs: CONNECT_MS,
    });
    await admin`SELECT 1`;
    return { admin, urls };
  });
  const { migrated = true, unused = false } = options;
  const isShared = migrated && !Deno.env.has("TEST_DATABASE_URL");
  let original = "template0";
  const url = databaseUrl(urls.url, name);
  const nearestUrl = databaseUrl(urls.nearestUrl, name);
  try {
    if (migrated) original = await template(admin, urls.nearestUrl);
    if (!isShared || unused || !await takeSpare(admin, original, name)) {
      await admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(original)}`;
      if (migrated) await admitHistory(nearestUrl);
    }
  } catch (error) {
    await admin.end({ timeout: 5 });
    throw error;
  }
  const pools: Sql[] = [];
  const open = (more: ConnectOptions = {}) => {
    const pool = connect(nearestUrl, {
      applicationName: "test",
      connectTimeoutMs: CONNECT_MS,
      ...more,
    });
    pools.push(pool);
    return pool;
  };
  const sql = open({ max: 4, ...options });
  return {
    url,
    sql,
    connect: open,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((pool) => pool.end({ timeout: 2 })));
      if (isShared) await leaveSpare(admin, original, name, nearestUrl);
      else await admin`DROP DATABASE ${admin(name)} WITH (FORCE)`;
      await admin.end({ timeout: 5 });
    },
  };
}

/**
 * Runs a function with a database of its own.
 *
 * @returns what the function returned
 */
export async function withDatabase<T>(
  fn: (database: TestDatabase) => Promise<T>,
  options: TestDatabaseOptions = {},
): Promise<T> {
  await using database = await testDatabase(options);
  return await fn(database);
}

/** A clone is another history than its template to the service, which would hold payouts for it. */
export async function admitHistory(url: string): Promise<void> {
  const sql = connect(url, {
    max: 1,
    applicationName: "test",
    connectTimeoutMs: CONNECT_MS,
  });
  try {
    await sql`UPDATE hub.database_history SET database_oid = (SELECT h.database_oid FROM hub.server_history() h)`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Name of the template, by today's migrations: these are read once for all tests of a module. */
let templateName: Promise<string> | undefined;

async function nameTemplate(): Promise<string> {
  const sums = (await readMigrations()).map((migration) => migration.checksum).join();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sums));
  return `migrated_${new Uint8Array(digest).toHex().slice(0, 16)}`;
}

/** The template for today's migrations; made by the first test that needs it. */
async function template(admin: Sql, serverUrl: string): Promise<string> {
  const name = await (templateName ??= nameTemplate());
  if (await exists(admin, name)) return name;
  await admin`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`;
  try {
    if (await exists(admin, name)) return name;
    const draft = `${name}_draft`;
    await admin`DROP DATABASE IF EXISTS ${admin(draft)} WITH (FORCE)`;
    await admin`CREATE DATABASE ${admin(draft)} TEMPLATE template0`;
    const sql = connect(databaseUrl(serverUrl, draft), { max: 1, connectTimeoutMs: CONNECT_MS });
    try {
      await migrate(sql);
      await noteTemplate(admin, name, sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
    await admin`ALTER DATABASE ${admin(draft)} RENAME TO ${admin(name)}`;
    return name;
  } finally {
    await admin`SELECT pg_advisory_unlock(${TEMPLATE_LOCK})`;
  }
}

async function exists(admin: Sql, name: string): Promise<boolean> {
  return (await admin`SELECT FROM pg_database WHERE datname = ${name}`).length > 0;
}
