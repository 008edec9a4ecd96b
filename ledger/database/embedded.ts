/**
 * The embedded PostgreSQL of a node without `DATABASE_URL`: a real server with fsync on, kept in
 * the data folder, found again after the service died, and recovered after it died itself.
 *
 * @module
 */

import { delay } from "./delay.ts";
import { join, resolve } from "node:path";
import { getLogger } from "@logtape/logtape";
import {
  clusterPassword,
  createCluster,
  existingCluster,
  keepPort,
  keptPort,
} from "./cluster_folder.ts";
import { type Settings, writeSettings } from "./cluster_settings.ts";
import { withFileLock } from "./file_lock.ts";
import { postgresBinaries } from "./postgres_binaries.ts";
import {
  type Cluster,
  clusterUrl,
  freePort,
  isFree,
  presenceOn,
  readLockFile,
  somebodyListens,
  spawnServer,
  type StartedServer,
  stopServer,
} from "./postmaster.ts";
import { serverUser } from "./server_user.ts";

const log = getLogger(["engine", "database"]);

/** How {@linkcode startEmbeddedPostgres} works. */
export interface EmbeddedOptions {
  /** The service's data folder; created when missing. */
  readonly dataDir: string;
  /** PostgreSQL settings that differ from the built-in ones. */
  readonly settings?: Settings;
  /** Whether a server that dies is started again while this process lives; default true. */
  readonly supervise?: boolean;
  /** Whether a new cluster is flushed to disk before its first use; default true. */
  readonly syncNewCluster?: boolean;
  /** Bound of the whole start, milliseconds; default 120,000 (a long recovery counts). */
  readonly startTimeoutMs?: number;
}

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Connection string with the password in it: never print it. */
  readonly url: string;
  /** PostgreSQL's data directory. */
  readonly folder: string;
  readonly port: number;
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** Whether this process started it (otherwise it was found running). */
  readonly owned: boolean;
  /** Stops the server, whoever started it; later calls change nothing. */
  stop(): Promise<void>;
  /** Stops watching the server and leaves it running. */
  release(): void;
  /** Resolves when the server that runs now is gone. */
  gone(): Promise<void>;
}

interface Running {
  readonly port: number;
  readonly pid: number;
  /** The process when it is our child. */
  readonly child: StartedServer | null;
}

/** How long a lock file may name a process that does not listen before it counts as stale. */
const STALE_LOCK_MS = 400;

/**
 * Starts the embedded PostgreSQL, or finds it running.
 *
 * @throws {Error} when it cannot be started; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  await Deno.mkdir(dataDir, { recursive: true });
  const lockFile = join(dataDir, "postgres.lock");
  const deadline = Date.now() + (options.startTimeoutMs ?? 120_000);
  const settings = options.settings ?? {};
  const { cluster, running } = await withFileLock(lockFile, deadline, async () => {
    const existing = await existingCluster(dataDir);
    const user = await serverUser(existing);
    const binaries = await postgresBinaries(user, dataDir);
    const folder = existing === null
      ? await createCluster(dataDir, user, binaries, options.syncNewCluster ?? true)
      : await Deno.realPath(existing);
    await refuseOtherVersion(folder);
    const password = await clusterPassword(dataDir);
    const cluster: Cluster = { folder, password, user, binaries };
    const port = await keptPort(dataDir);
    const running = await startServer(cluster, port, settings, deadline);
    if (running.port !== port) await keepPort(dataDir, running.port);
    return { cluster, running };
  });
  return supervised(cluster, running, settings, lockFile, options.supervise ?? true);
}

async function refuseOtherVersion(folder: string): Promise<void> {
  const version = (await Deno.readTextFile(join(folder, "PG_VERSION"))).trim();
  if (version !== "18") {
    throw new Error(
      `Cannot use the cluster ${folder} as it was made by another major version of PostgreSQL: ${version}`,
    );
  }
}

/**
 * Brings the cluster's server up.
 *
 * @param wantedPort the port to keep, `null` to choose one
 * @param fixed whether another port would be of no use
 */
async function startServer(
  cluster: Cluster,
  wantedPort: number | null,
  settings: Settings,
  deadline: number,
  fixed = false,
): Promise<Running> {
  let port = wantedPort ?? freePort();
  let absentSince: number | null = null;
  // Children of a killed server hold its port for a moment and never answer: ask again soon.
  let patienceMs = 125;
  for (;;) {
    const found = await readLockFile(cluster.folder);
    if (found?.port) {
      const presence = await presenceOn(cluster, found.port, patienceMs);
      if (presence === "ours") return { port: found.port, pid: found.pid, child: null };
      if (presence === "busy") {
        patienceMs = Math.min(2 * patienceMs, 4_000);
        await waitUntil(deadline, cluster, "it neither starts nor stops");
        continue;
      }
    }
    if (!isFree(port)) {
      if (fixed) await waitUntil(deadline, cluster, `its port is taken: ${port}`, 200);
      else port = freePort();
      continue;
    }
    await writeSettings(cluster.folder, port, settings);
    const child = spawnServer(cluster);
    const outcome = await firstAnswer(cluster, child, port, deadline);
    if (outcome === "ready") return { port, pid: child.pid, child };
    // The port may have been taken between the look and the start.
    if (!isFree(port)) continue;
    if (!isHeldByAnother(child.said())) throw await startFailure(cluster, child);
    absentSince ??= Date.now();
    if (Date.now() - absentSince > STALE_LOCK_MS) await removeStaleLock(cluster, child.said());
    await waitUntil(deadline, cluster, child.said(), 100);
  }
}

/** Whether the server stopped because it saw (remains of) another one on the same cluster. */
function isHeldByAnother(said: string): boolean {
  return /lock file "[^"]*" already exists|pre-existing shared memory block|lock file "[^"]*" is empty/
    .test(said);
}

/**
 * Removes a lock file whose process is dead but not yet reaped, or whose process id now belongs to
 * another program: PostgreSQL cannot tell either from a server. Should there be
 * processes of an older server after all, the next start still sees their shared memory, which it
 * finds by the folder and not by the lock file.
 */
async function removeStaleLock(cluster: Cluster, said: string): Promise<void> {
  if (!said.includes("postmaster.pid")) return;
  const lock = await readLockFile(cluster.folder);
  if (lock?.port && await somebodyListens(lock.port)) return;
  log.warn("removing a stale lock file: process {pid} is no PostgreSQL server", {
    pid: lock?.pid ?? 0,
  });
  try {
    await Deno.remove(join(cluster.folder, "postmaster.pid"));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function firstAnswer(
  cluster: Cluster,
  child: StartedServer,
  port: number,
  deadline: number,
): Promise<"ready" | "gone"> {
  let gone = false;
  child.gone.then(() => gone = true, () => gone = true);
  for (;;) {
    if (gone) return "gone";
    const lock = await readLockFile(cluster.folder);
    if (lock?.pid === child.pid && lock.status === "ready") {
      if (await presenceOn(cluster, port, 2_000) === "ours") return "ready";
    }
    await waitUntil(deadline, cluster, "it does not become ready", 10);
  }
}

async function waitUntil(
  deadline: number,
  cluster: Cluster,
  reason: string,
  pauseMs = 50,
): Promise<void> {
  if (Date.now() > deadline) {
    throw new Error(
      `Cannot start the embedded PostgreSQL in time as ${reason}: ${cluster.folder}`,
    );
  }
  await delay(pauseMs);
}

async function startFailure(cluster: Cluster, child: StartedServer): Promise<Error> {
  const said = child.said().trim();
  const logged = await lastLogLines(cluster.folder);
  return new Error(
    `Cannot start the embedded PostgreSQL as the server gave up: ${[said, logged].join("\n")}`,
  );
}

async function lastLogLines(folder: string): Promise<string> {
  let newest = { path: "", time: 0 };
  try {
    for await (const entry of Deno.readDir(join(folder, "log"))) {
      const path = join(folder, "log", entry.name);
      const time = (await Deno.stat(path)).mtime?.getTime() ?? 0;
      if (time >= newest.time) newest = { path, time };
    }
    if (newest.path === "") return "";
    return (await Deno.readTextFile(newest.path)).trim().split("\n").slice(-8).join("\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** Watches a running server and starts it again when it dies. */
function supervised(
  cluster: Cluster,
  first: Running,
  settings: Settings,
  lockFile: string,
  watching: boolean,
): EmbeddedPostgres {
  let running = first;
  const end = new AbortController();

  async function watch(): Promise<void> {
    while (!end.signal.aborted) {
      await death(running, end.signal);
      if (end.signal.aborted) return;
      log.error("the embedded PostgreSQL died (process {pid}); starting it again", {
        pid: running.pid,
      });
      try {
        const deadline = Date.now() + 120_000;
        running = await withFileLock(
          lockFile,
          deadline,
          () => startServer(cluster, first.port, settings, deadline, true),
        );
      } catch (error) {
        log.error("the embedded PostgreSQL does not start again: {error}", { error });
        await delay(1_000, end.signal);
      }
    }
  }
  const watcher = watching ? watch() : Promise.resolve();
  let stopping: Promise<void> | null = null;

  return {
    url: clusterUrl(cluster, first.port),
    folder: cluster.folder,
    port: first.port,
    get pid() {
      return running.pid;
    },
    get owned() {
      return running.child !== null;
    },
    release: () => end.abort(),
    gone: () => running.child?.end() ?? death(running, new AbortController().signal),
    stop: () => {
      end.abort();
      stopping ??= (async () => {
        await watcher;
        await stopServer(cluster, 20);
        await running.child?.end();
      })();
      return stopping;
    },
  };
}

/** Resolves when the server is gone, or when nobody wants to know any more. */
async function death(running: Running, signal: AbortSignal): Promise<void> {
  if (running.child !== null) {
    const aborted = new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener("abort", () => done(), { once: true });
    });
    await Promise.race([running.child.gone, aborted]);
    return;
  }
  while (!signal.aborted && await somebodyListens(running.port)) await delay(500, signal);
}
