/**
 * The server and the databases of a run: the embedded PostgreSQL as the service starts it, fsync
 * on, or a named one; and one database per side, all cloned from the same seed.
 *
 * @module
 */

import { join } from "node:path";
import { startEmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { privateCluster } from "../support/private_cluster.ts";
import { storedFunctionText } from "./baseline/stored_function.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { type Seed, seed } from "./seed.ts";
import { admitHistory } from "../support/database.ts";

/** One side's database. */
export interface SideDatabase {
  readonly url: string;
  readonly sql: Sql;
}

/** A server that is measured instead of an embedded one. */
export interface NamedServer {
  readonly url: string;
  /** Process id; null where it is not this run's own. */
  readonly pid: number | null;
}

/** The server of a run. */
export interface BenchServer {
  /** Process id of the server; null where it is not this run's own. */
  readonly pid: number | null;
  /** A connection of a role that creates databases. */
  readonly admin: Sql;
  /** Connection string of a database of the server. */
  urlOf(database: string): string;
}

/** Everything that a measurement needs. */
export interface BenchCluster extends BenchServer, AsyncDisposable {
  readonly machine: Machine;
  readonly seed: Seed;
  /** Files with what the load generator sends. */
  readonly files: {
    readonly hot: string;
    readonly spread: string;
    readonly destinations: string;
  };
  /** The database of a side; made when it is first asked for. */
  database(name: string): Promise<SideDatabase>;
}

/** The pools of all sides together are more than the service's own ever are. */
const MAX_CONNECTIONS = 300;
const TEMPLATE = "template";

/**
 * Starts the server and seeds the template.
 *
 * @param named a server that is used instead of an embedded one; what is made there is dropped at the end
 * @param kept folder of an embedded server that stays with its databases; null: one of the run's own
 */
export async function startBenchCluster(
  named: NamedServer | null,
  kept: string | null = null,
): Promise<BenchCluster> {
  await using stack = new AsyncDisposableStack();
  const own = named === null ? await startOwn(stack, kept) : null;
  const server = new URL(named?.url ?? own?.url ?? "");
  const folder = await Deno.makeTempDir({ prefix: "engine-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const admin = connect(server.href, { max: 1, applicationName: "bench-admin" });
  stack.defer(() => admin.end({ timeout: 1 }));
  const run = crypto.randomUUID().slice(0, 8);
  const idOf = (name: string) => `bench_${run}_${name}`;
  const urlOf = (id: string) => Object.assign(new URL(server), { pathname: id }).href;
  const created: string[] = [];
  const create = async (name: string, template: string) => {
    await admin`CREATE DATABASE ${admin(idOf(name))} TEMPLATE ${admin(template)}`;
    created.push(idOf(name));
  };
  stack.defer(async () => {
    for (const id of own === null || kept !== null ? created.reverse() : []) {
      await admin`DROP DATABASE ${admin(id)} WITH (FORCE)`;
    }
  });
  await create(TEMPLATE, "template0");
  const sql = connect(urlOf(idOf(TEMPLATE)), { max: 6 });
  stack.defer(() => sql.end({ timeout: 5 }));
  await migrate(sql);
  const seeded = await seed(sql);
  const machine = await describeMachine(sql, own === null ? null : await folderOf(sql));
  await sql.end({ timeout: 5 });

  const write = async (name: string, lines: readonly string[]) => {
    const path = join(folder, name);
    await Deno.writeTextFile(path, lines.join("\n") + "\n");
    return path;
  };
  const files = {
    hot: await write("hot_keys", seeded.hotKeys),
    spread: await write("spread_keys", seeded.spreadKeys),
    destinations: await write("destinations", seeded.destinations),
  };
  const made = new Map<string, SideDatabase>();
  const disposal = stack.move();
  return {
    machine: named?.pid === null
      ? { ...machine, postgres: `${machine.postgres}, at ${server.host}` }
      : machine,
    seed: seeded,
    pid: own?.pid ?? named?.pid ?? null,
    admin,
    urlOf,
    files,
    database: async (name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      await create(name, idOf(TEMPLATE));
      const url = urlOf(idOf(name));
      await admitHistory(url);
      const database = { url, sql: connect(url, { max: 2 }) };
      if (name === "journal_slow_disk") {
        // commit_siblings 0: every commit waits that long before it flushes, also a single one
        await admin`ALTER DATABASE ${admin(idOf(name))} SET commit_delay = 2000`;
        await admin`ALTER DATABASE ${admin(idOf(name))} SET commit_siblings = 0`;
      }
      if (name === "stored_function") await database.sql.unsafe(await storedFunctionText());
      made.set(name, database);
      return database;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...made.values()].map((one) => one.sql.end({ timeout: 2 })));
      await disposal.disposeAsync();
    },
  };
}

/** An embedded server: one that goes with the run, or the one of a folder. */
async function startOwn(
  stack: AsyncDisposableStack,
  folder: string | null,
): Promise<{ readonly url: string; readonly pid: number }> {
  const settings = { autovacuum: "on", max_connections: MAX_CONNECTIONS };
  if (folder === null) {
    const { nearestUrl, pid } = stack.use(await privateCluster({ settings, migrated: false }));
    return { url: nearestUrl, pid };
  }
  const server = await startEmbeddedPostgres({ dataDir: folder, supervise: false, settings });
  stack.defer(() => server.stop());
  return { url: server.nearestUrl, pid: server.pid };
}

async function folderOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ folder: string }[]>`
    SELECT current_setting('data_directory') AS folder`;
  if (row === undefined) throw new Error("Cannot find the cluster's folder");
  return row.folder;
}
