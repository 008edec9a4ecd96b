/**
 * The embedded PostgreSQL of a node without `DATABASE_URL`: a real server with fsync on, kept in
 * the data folder, found again after the service died, and recovered after it died itself.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { join, resolve } from "node:path";
import { delay } from "../../ledger/database/delay.ts";
import { UnusableFolder } from "../open/data_folder.ts";
import {
  clusterPassword,
  createCluster,
  existingCluster,
  type Settings,
  storedPort,
  storePort,
} from "./cluster.ts";
import { isUnlocked, sharedFileLock, withFileLock } from "./file_lock.ts";
import { postgresBinaries, serverUser } from "./programs.ts";
import {
  type Cluster,
  clusterUrl,
  hasLostSocket,
  isListening,
  nearestUrl,
  type Running,
  startServer,
  stopServer,
} from "./server.ts";

/** Options of {@linkcode startEmbeddedPostgres}. */
export interface EmbeddedOptions {
  /** The service's data folder; created when missing. */
  readonly dataDir: string;
  /** PostgreSQL settings that differ from the built-in ones. */
  readonly settings?: Settings;
  /** True if a server that dies is started again while this process lives; default true. */
  readonly supervise?: boolean;
  /** True if a new cluster is flushed to disk before its first use; default true. */
  readonly syncNewCluster?: boolean;
}

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Connection string over TCP, with the password in it: never print it. */
  readonly url: string;
  /** The same over the server's Unix socket, which costs less; over TCP where that is not there. */
  readonly nearestUrl: string;
  /** PostgreSQL's data directory. */
  readonly folder: string;
  readonly port: number;
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** Stops the server unless another process uses it as well; later calls change nothing. */
  stop(): Promise<void>;
}

/** In the data folder: held while the server is started or stopped. */
const LOCK_FILE = "postgres.lock";
/** In the data folder: held, shared, by every process that uses the server. */
const USERS_FILE = "postgres.users";
/** Bound of a start, milliseconds; a long recovery counts. */
const START_MS = 120_000;
/** Pause between two checks that the server is there. */
const WATCH_MS = 500;
/** Checks in a row that do not find the socket of a server that listens before it is started again. */
const LOOKS_TO_BELIEVE = 2;

/**
 * Starts the embedded PostgreSQL, or finds it running.
 *
 * @throws {UnusableFolder} when the folder's cluster is none that this version can use
 * @throws {Error} when it cannot be started; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { settings = {}, supervise = true, syncNewCluster = true } = options;
  const dataDir = resolve(options.dataDir);
  await Deno.mkdir(dataDir, { recursive: true });
  const locked = <T>(boundMs: number, body: (deadline: number) => Promise<T>): Promise<T> => {
    const deadline = performance.now() + boundMs;
    return withFileLock(join(dataDir, LOCK_FILE), deadline, () => body(deadline));
  };
  const { cluster, first, use } = await locked(START_MS, async (deadline) => {
    const cluster = await openCluster(dataDir, syncNewCluster);
    const port = await storedPort(dataDir);
    const first = await startServer(cluster, port, settings, deadline);
    if (first.port !== port) await storePort(dataDir, first.port);
    return { cluster, first, use: await sharedFileLock(join(dataDir, USERS_FILE)) };
  });
  let running: Running = first;
  const end = new AbortController();
  const url = clusterUrl(cluster, first.port);
  const nearest = await nearestUrl(cluster, first.port);

  async function watch(): Promise<void> {
    let looksLost = 0;
    while (!end.signal.aborted) {
      await delay(WATCH_MS, end.signal);
      if (end.signal.aborted) continue;
      const listens = await isListening(first.port);
      const isLost = listens && nearest !== url && await hasLostSocket(cluster, first.port);
      // a server that starts takes connections over TCP a moment before it makes its socket
      looksLost = isLost ? looksLost + 1 : 0;
      if (listens && looksLost < LOOKS_TO_BELIEVE) continue;
      if (listens) logEvent("postgres.socket_lost", { folder: cluster.folder });
      else logEvent("postgres.died", { pid: running.pid });
      try {
        running = await locked(START_MS, async (deadline) => {
          // another start may have made it again while this one waited for the lock
          if (listens && !await hasLostSocket(cluster, first.port)) return running;
          if (listens) await stopServer(cluster, 20);
          return await startServer(cluster, first.port, settings, deadline, true);
        });
      } catch (error) {
        logEvent("postgres.not_restarted", { error });
      }
    }
  }
  const watching = supervise ? watch() : Promise.resolve();
  let stopping: Promise<void> | null = null;

  return {
    url,
    nearestUrl: nearest,
    folder: cluster.folder,
    port: first.port,
    get pid() {
      return running.pid;
    },
    stop: () =>
      stopping ??= (async () => {
        end.abort();
        await watching;
        use[Symbol.dispose]();
        await locked(60_000, async () => {
          if (await isUnlocked(join(dataDir, USERS_FILE))) await stopServer(cluster, 20);
          else logEvent("postgres.left_running");
        });
      })(),
  };
}

/** Finds the cluster of a data folder, or makes it. The caller holds the cluster's file lock. */
async function openCluster(dataDir: string, sync: boolean): Promise<Cluster> {
  const existing = await existingCluster(dataDir);
  const user = await serverUser(existing);
  const binaries = await postgresBinaries(user, dataDir);
  const folder = existing === null
    ? await createCluster(dataDir, user, binaries, sync)
    : await Deno.realPath(existing);
  const version = (await Deno.readTextFile(join(folder, "PG_VERSION"))).trim();
  if (version !== "18") {
    throw new UnusableFolder(
      `Cannot use the cluster ${folder} as another major version of PostgreSQL made it: ${version}; ` +
        "start the version of the service that made it, or another DATA_DIR",
    );
  }
  return { folder, password: await clusterPassword(dataDir), user, binaries };
}
