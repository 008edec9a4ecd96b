/**
 * A streaming standby of a {@linkcode PrivateCluster} on loopback, for tests of a failover.
 *
 * @module
 */

import { join } from "node:path";
import { type Settings, writeSettings } from "../../app/postgres/cluster.ts";
import { freePort } from "../../app/postgres/free_port.ts";
import { type Cluster, launch, readLockFile, stopServer } from "../../app/postgres/server.ts";
import { postgresBinaries, serverUser } from "../../app/postgres/programs.ts";
import { connect, type ConnectOptions, type Sql } from "../../ledger/database/connect.ts";
import { delay } from "../../ledger/database/delay.ts";
import { guardCluster } from "./cluster_guard.ts";
import { debianBinaries, writeDefaultSettings } from "./debian_postgres.ts";
import type { PrivateCluster } from "./private_cluster.ts";

/** A second server that replays what the primary writes, until it is promoted. */
export interface Standby extends AsyncDisposable {
  /** Connection string of its database, which takes reads only until it is promoted. */
  readonly url: string;
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** Opens a pool, closed with the standby. */
  connect(options?: ConnectOptions): Sql;
  /** Makes it a primary on a timeline of its own; returns when it takes writes. */
  promote(): Promise<void>;
  /** Waits until it has replayed all that the primary has written so far. */
  catchUp(): Promise<void>;
  /** Stops replaying (what arrives is kept), so that it lacks the commits that follow. */
  pauseReplay(): Promise<void>;
  /** Ends it, so that neither acknowledgement nor WAL passes; {@linkcode start} continues. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Stops the server and removes its files. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@linkcode startStandby}. */
export interface StandbyOptions {
  /** True: every commit of the primary waits for this standby; default false. */
  readonly synchronous?: boolean;
  /** PostgreSQL settings of the standby. */
  readonly settings?: Settings;
}

/** Time that a server may take to carry out a command, milliseconds. */
const BOUND_MS = 180_000;

/**
 * Makes a standby from a running primary: `await using standby = await startStandby(primary);`
 * It runs the primary's programs. Dispose of it before the primary (declare it later).
 */
export async function startStandby(
  primary: PrivateCluster,
  options: StandbyOptions = {},
): Promise<Standby> {
  const dataDir = await Deno.makeTempDir({ prefix: "engine-standby-" });
  await Deno.chmod(dataDir, 0o755);
  const guard = await guardCluster(dataDir);
  const admin = primary.connect({ max: 1, applicationName: "standby-admin" });
  const [at] = await admin<{ folder: string }[]>`
    SELECT current_setting('data_directory') AS folder`;
  if (at === undefined) throw new Error("Cannot copy the primary as it names no folder");
  const folder = join(dataDir, "postgres");
  const user = await serverUser(at.folder);
  const isDebian = primary.binaries === "debian";
  const cluster: Cluster = {
    folder,
    password: decodeURIComponent(new URL(primary.url).password),
    user,
    binaries: isDebian ? debianBinaries() : await postgresBinaries(user, dataDir),
  };
  await copyPrimary(admin, at.folder, folder);
  const port = freePort();
  const { hostname, port: primaryPort, username } = new URL(primary.url);
  const settings: Settings = {
    ...(isDebian ? {} : { autovacuum: "off" }),
    primary_conninfo: `host=${hostname} port=${primaryPort} user=${username} ` +
      `password=${cluster.password} application_name=standby`,
    // a standby that was away asks for its primary again soon
    wal_retrieve_retry_interval: "200ms",
    ...options.settings,
  };
  await (isDebian ? writeDefaultSettings : writeSettings)(folder, port, settings);
  const url = new URL(primary.url);
  url.port = String(port);
  const pools: Sql[] = [];
  const open = (more: ConnectOptions = {}) => {
    const pool = connect(url.href, { applicationName: "test", ...more });
    pools.push(pool);
    return pool;
  };
  let pid = await startProcess(cluster);
  if (options.synchronous ?? false) {
    await admin`ALTER SYSTEM SET synchronous_standby_names = 'standby'`;
    await admin`SELECT pg_reload_conf()`;
    await until("the standby is synchronous", async () => {
      const rows = await admin`
        SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`;
      return rows.length > 0;
    });
  }
  return {
    url: url.href,
    get pid() {
      return pid;
    },
    connect: open,
    promote: async () => {
      const own = connect(url.href, { max: 1 });
      try {
        await own`SELECT pg_promote(true, ${BOUND_MS / 1_000})`;
      } finally {
        await own.end({ timeout: 1 });
      }
    },
    catchUp: async () => {
      const [row] = await admin<{ lsn: string }[]>`SELECT pg_current_wal_lsn()::text AS lsn`;
      const own = connect(url.href, { max: 1 });
      try {
        await until("the standby caught up", async () => {
          const [reached] = await own<{ done: boolean }[]>`
            SELECT pg_last_wal_replay_lsn() >= ${row?.lsn ?? ""}::pg_lsn AS done`;
          return reached?.done === true;
        });
      } finally {
        await own.end({ timeout: 1 });
      }
    },
    pauseReplay: async () => {
      const own = connect(url.href, { max: 1 });
      try {
        await own`SELECT pg_wal_replay_pause()`;
      } finally {
        await own.end({ timeout: 1 });
      }
    },
    stop: async () => {
      await stopServer(cluster, 20);
    },
    start: async () => {
      pid = await startProcess(cluster);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })));
      await stopServer(cluster, 20);
      await guard.release();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** Copies a running server's files as the manual's chapter "Making a Base Backup" says. */
async function copyPrimary(admin: Sql, from: string, to: string): Promise<void> {
  const session = await admin.reserve();
  try {
    await session`SELECT pg_backup_start('standby', true)`;
    const copied = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
    // 1: files that went away while they were copied, which the WAL makes up for
    if (copied.code > 1) throw new Error(new TextDecoder().decode(copied.stderr));
    const [stopped] = await session<{ label: string }[]>`
      SELECT labelfile AS label FROM pg_backup_stop(false)`;
    await writeOwned(join(to, "backup_label"), stopped?.label ?? "", from);
  } finally {
    session.release();
  }
  await writeOwned(join(to, "standby.signal"), "", from);
  for (const name of ["postmaster.pid", "postmaster.opts"]) {
    await Deno.remove(join(to, name)).catch(() => {});
  }
}

async function writeOwned(path: string, text: string, model: string): Promise<void> {
  await Deno.writeTextFile(path, text, { mode: 0o600 });
  const { uid, gid } = await Deno.stat(model);
  await Deno.chown(path, uid, gid);
}

/** Starts the server and waits until it takes connections. @returns its process id */
async function startProcess(cluster: Cluster): Promise<number> {
  const fault = await launch(cluster, BOUND_MS);
  if (fault !== null) throw new Error(`Cannot start the standby: ${fault}`);
  return (await readLockFile(cluster.folder))?.pid ?? 0;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + BOUND_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Cannot go on as this takes long: ${what}`);
    await delay(20);
  }
}
