/**
 * Keeps the shared test server: a process of its own, started by
 * [shared_cluster.ts](./shared_cluster.ts). Ends when no test has been connected for a while.
 *
 * @module
 */

import { join } from "node:path";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { delay } from "../../ledger/database/delay.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { withFileLock } from "../../app/postgres/file_lock.ts";
import { removeCluster } from "./remove_cluster.ts";
import { type Ready, READY_FILE, SHARED_FOLDER, SHARED_LOCK } from "./shared_cluster.ts";

/** Longer than the tests take that use servers of their own, so that this one is not made twice. */
const IDLE_MS = 180_000;
const LOOK_EVERY_MS = 1_000;
const DATA_DIR = join(SHARED_FOLDER, "data");

/** Nothing in a test database has to survive a crash of the machine. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: 300,
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  // Its workers would be connected to the template just when it is cloned.
  autovacuum: "off",
};

async function start(): Promise<EmbeddedPostgres> {
  const options = { dataDir: DATA_DIR, settings: SETTINGS, syncNewCluster: false };
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    // deno-lint-ignore no-console -- goes to the log file beside the cluster
    console.error("starting from nothing, as what was there does not start:", error);
    await Deno.remove(DATA_DIR, { recursive: true });
    return await startEmbeddedPostgres(options);
  }
}

async function others(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  return row?.count ?? 0;
}

async function idleFor(sql: Sql, ms: number): Promise<void> {
  let usedAt = Date.now();
  while (Date.now() - usedAt < ms) {
    await delay(LOOK_EVERY_MS);
    if (await others(sql) > 0) usedAt = Date.now();
  }
}

/**
 * Has the role's password hashed once instead of 4,096 times for each connection: tests make thousands of these,
 * to a server that holds nothing and is reached from this machine alone.
 */
async function hashOnce(sql: Sql, url: string): Promise<void> {
  const { username, password } = new URL(url);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL scram_iterations = 1`;
    await tx.unsafe(`ALTER ROLE ${username} PASSWORD '${password}'`);
  });
}

async function keep(): Promise<void> {
  const server = await start();
  const sql = connect(server.url, { max: 1, applicationName: "keeper" });
  await hashOnce(sql, server.url);
  const { url, nearestUrl } = server;
  const ready: Ready = { url, nearestUrl, keeperPid: Deno.pid };
  await Deno.writeTextFile(`${READY_FILE}.new`, JSON.stringify(ready), { mode: 0o600 });
  await Deno.rename(`${READY_FILE}.new`, READY_FILE);
  for (;;) {
    await idleFor(sql, IDLE_MS);
    // Tests join under the same lock: one that comes now waits, and then starts a new keeper.
    const ended = await withFileLock(SHARED_LOCK, performance.now() + 120_000, async () => {
      if (await others(sql) > 0) return false;
      await Deno.remove(READY_FILE);
      await sql.end({ timeout: 5 });
      await server.stop();
      await removeCluster(DATA_DIR, server.folder);
      return true;
    });
    if (ended) return;
  }
}

if (import.meta.main) await keep();
