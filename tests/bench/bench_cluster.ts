/**
 * The server and the databases of a run: the embedded PostgreSQL as the service starts it, fsync
 * on, and one database per side, all cloned from the same seed.
 *
 * @module
 */

import { join } from "node:path";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { privateCluster } from "../support/private_cluster.ts";
import { storedFunctionText } from "./baseline/stored_function.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { type Seed, seed } from "./seed.ts";

/** One side's database. */
export interface SideDatabase {
  readonly url: string;
  readonly sql: Sql;
}

/** Everything that a measurement needs. */
export interface BenchCluster extends AsyncDisposable {
  readonly machine: Machine;
  readonly seed: Seed;
  /** Process id of the server. */
  readonly pid: number;
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
const TEMPLATE = "bench_template";

/** Starts the server and seeds the template. */
export async function startBenchCluster(): Promise<BenchCluster> {
  const cluster = await privateCluster({
    settings: { autovacuum: "on", max_connections: MAX_CONNECTIONS },
    migrated: false,
  });
  const folder = await Deno.makeTempDir({ prefix: "engine-bench-" });
  const admin = cluster.connect({ max: 1, applicationName: "bench-admin" });
  const urlOf = (name: string) =>
    Object.assign(new URL(cluster.url), { pathname: `/${name}` }).href;
  await admin`CREATE DATABASE ${admin(TEMPLATE)} TEMPLATE template0`;
  const sql = connect(urlOf(TEMPLATE), { max: 6 });
  await migrate(sql);
  const seeded = await seed(sql);
  const [location] = await sql<{ folder: string }[]>`
    SELECT current_setting('data_directory') AS folder`;
  const machine = await describeMachine(sql, location?.folder ?? folder);
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
  return {
    machine,
    seed: seeded,
    pid: cluster.pid,
    files,
    database: async (name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      await admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(TEMPLATE)}`;
      const database = { url: urlOf(name), sql: connect(urlOf(name), { max: 2 }) };
      if (name === "journal_slow_disk") {
        // commit_siblings 0: every commit waits that long before it flushes, also a single one
        await admin`ALTER DATABASE ${admin(name)} SET commit_delay = 2000`;
        await admin`ALTER DATABASE ${admin(name)} SET commit_siblings = 0`;
      }
      if (name === "stored_function") await database.sql.unsafe(await storedFunctionText());
      made.set(name, database);
      return database;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...made.values()].map((one) => one.sql.end({ timeout: 2 })));
      await cluster[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
