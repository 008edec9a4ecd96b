/**
 * The embedded PostgreSQL of a node without `DATABASE_URL`: a real server with fsync on, kept in
 * the data folder, found again after the service died, and recovered after it died itself.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { join, resolve } from "node:path";
import { delay } from "../../ledger/database/delay.ts";
import {
  clusterPassword,
  createCluster,
  existingCluster,
  keepPort,
  keptPort,
  type Settings,
} from "./cluster.ts";
import { isUnlocked, sharedFileLock, withFileLock } from "./file_lock.ts";
import { type Cluster, clusterUrl, somebodyListens, stopServer } from "./postmaster.ts";
import { postgresBinaries, serverUser } from "./programs.ts";
import { type Running, startServer } from "./start_server.ts";

const log = getLogger(["engine", "database"]);

/** How {@linkcode startEmbeddedPostgres} works. */
export interface EmbeddedOptions {
  /** The service's data folder; created when missing. */
  readonly dataDir: string;
  /** PostgreSQL settings that differ from the built-in ones. */
  readonly settings?: Settings;
  /** True if a server that dies is started again while this process lives; default true. */
  readonly supervise?: boolean;
  /** True if a new cluster is flushed to disk before its first use; default true. */
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
  /** True if this process started it (otherwise it was found running). */
  readonly owned: boolean;
  /**
   * Stops the server, whoever started it, unless another process uses it as well; later calls
   * change nothing.
   */
  stop(): Promise<void>;
  /** Stops watching and using the server, and leaves it running. */
  release(): void;
  /** Resolves when the server that runs now is gone. */
  gone(): Promise<void>;
}

/** In the data folder: held while the server is started or stopped. */
const LOCK_FILE = "postgres.lock";
/** In the data folder: held, shared, by every process that uses the server. */
const USERS_FILE = "postgres.users";

/**
 * Starts the embedded PostgreSQL, or finds it running.
 *
 * @throws {Error} when it cannot be started; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  await Deno.mkdir(dataDir, { recursive: true });
  const lockFile = join(dataDir, LOCK_FILE);
  const deadline = Date.now() + (options.startTimeoutMs ?? 120_000);
  const settings = options.settings ?? {};
  const { cluster, running, use } = await withFileLock(lockFile, deadline, async () => {
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
    return { cluster, running, use: await sharedFileLock(join(dataDir, USERS_FILE)) };
  });
  const server = { cluster, dataDir, settings, first: running, use };
  return supervised(server, options.supervise ?? true);
}

async function refuseOtherVersion(folder: string): Promise<void> {
  const version = (await Deno.readTextFile(join(folder, "PG_VERSION"))).trim();
  if (version !== "18") {
    throw new Error(
      `Cannot use the cluster ${folder} as it was made by another major version of PostgreSQL: ${version}`,
    );
  }
}

interface UsedServer {
  readonly cluster: Cluster;
  readonly dataDir: string;
  readonly settings: Settings;
  readonly first: Running;
  /** Tells other processes that this one uses the server. */
  readonly use: Disposable;
}

/** Watches a running server and starts it again when it dies. */
function supervised(server: UsedServer, watching: boolean): EmbeddedPostgres {
  const { cluster, dataDir, settings, first } = server;
  const lockFile = join(dataDir, LOCK_FILE);
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
    release: () => {
      end.abort();
      server.use[Symbol.dispose]();
    },
    gone: () => running.child?.end() ?? death(running, new AbortController().signal),
    stop: () => {
      end.abort();
      stopping ??= (async () => {
        await watcher;
        server.use[Symbol.dispose]();
        await withFileLock(lockFile, Date.now() + 60_000, async () => {
          if (await isUnlocked(join(dataDir, USERS_FILE))) {
            await stopServer(cluster, 20);
            await running.child?.end();
          } else {
            log.info("leaving the embedded PostgreSQL running, as another process uses it");
          }
        });
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
