/**
 * A PostgreSQL server of its own, for tests that kill it.
 *
 * @module
 */

import { connect, type ConnectOptions, type Sql } from "../../ledger/database/connect.ts";
import { startEmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import type { Settings } from "../../app/postgres/cluster.ts";
import { isListening } from "../../app/postgres/server.ts";
import { delay } from "../../ledger/database/delay.ts";
import { guardCluster } from "./cluster_guard.ts";
import { bringCluster } from "./kept_cluster.ts";
import { startDebianPostgres, type TestServer } from "./debian_postgres.ts";
import { removeCluster } from "./remove_cluster.ts";

/** Which PostgreSQL runs: the embedded one, or Debian's with its default settings. */
export type Binaries = "embedded" | "debian";

/** A server that a test may treat badly. */
export interface PrivateCluster extends AsyncDisposable {
  readonly binaries: Binaries;
  /** Connection string of its migrated database; the same after a restart. */
  readonly url: string;
  /** The same as a service that starts its own server connects: over the Unix socket where it can. */
  readonly nearestUrl: string;
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** Opens a pool, closed with the cluster. */
  connect(options?: ConnectOptions): Sql;
  /** Kills the server with SIGKILL, as a power cut would; returns when nothing answers any more. */
  kill9(): Promise<void>;
  /** Stops the server in an orderly way. */
  stop(): Promise<void>;
  /** Starts the server again on the same port. */
  restart(): Promise<void>;
  /** Stops the server and removes the cluster. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server with a migrated database: `await using cluster = await privateCluster();`
 *
 * @param options.settings PostgreSQL settings; fsync is on unless they say otherwise
 * @param options.migrated whether the migrations are applied; default true
 * @param options.binaries default `embedded`
 * @param options.programs where `debian` finds its programs; default: the newest version that is installed
 */
export async function privateCluster(
  options: {
    readonly settings?: Settings;
    readonly migrated?: boolean;
    readonly binaries?: Binaries;
    readonly programs?: string;
  } = {},
): Promise<PrivateCluster> {
  const { binaries = "embedded", migrated = true } = options;
  const dataDir = await Deno.makeTempDir({ prefix: "engine-cluster-" });
  await Deno.chmod(dataDir, 0o755);
  const start = (): Promise<TestServer> =>
    binaries === "debian"
      ? startDebianPostgres(dataDir, options.settings ?? {}, options.programs)
      : startEmbeddedPostgres({
        dataDir,
        supervise: false,
        syncNewCluster: false,
        settings: { autovacuum: "off", ...options.settings },
      });
  const guard = await guardCluster(dataDir);
  if (migrated && binaries === "embedded") await bringCluster(dataDir);
  let server = await start();
  const pools: Sql[] = [];
  const open = (more: ConnectOptions = {}) => {
    const pool = connect(server.url, { applicationName: "test", ...more });
    pools.push(pool);
    return pool;
  };
  const cluster: PrivateCluster = {
    binaries,
    url: server.url,
    nearestUrl: server.nearestUrl,
    get pid() {
      return server.pid;
    },
    connect: open,
    kill9: async () => {
      Deno.kill(server.pid, "SIGKILL");
      while (await isListening(server.port)) await delay(5);
    },
    stop: () => server.stop(),
    restart: async () => {
      await server.stop();
      server = await start();
      if (server.url !== cluster.url) {
        throw new Error("Cannot restart the cluster on its port as that was taken");
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })));
      await server.stop();
      await guard.release();
      await removeCluster(dataDir, server.folder);
    },
  };
  if (migrated) {
    const sql = connect(server.url, { max: 1 });
    try {
      await migrate(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  }
  return cluster;
}
