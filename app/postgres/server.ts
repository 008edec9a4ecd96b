/**
 * The PostgreSQL server of one cluster: found, started and stopped, by way of `pg_ctl`.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { join } from "node:path";
import postgres from "postgres";
import { delay } from "../../ledger/database/delay.ts";
import { readStored, UnusableFolder } from "../open/data_folder.ts";
import { ROLE, type Settings, writeSettings } from "./cluster.ts";
import { freePort, isFree } from "./free_port.ts";
import { type PostgresBinaries, runAs, type ServerUser } from "./programs.ts";

/** One cluster, and what its server is started and asked with. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly folder: string;
  readonly password: string;
  readonly user: ServerUser | null;
  readonly binaries: PostgresBinaries;
}

/** A server that answers. */
export interface Running {
  readonly port: number;
  readonly pid: number;
}

/**
 * Result of a connection attempt. `own`: the cluster's server answers. `busy`: a server that is
 * starting, stopping or silent. `absent`: nothing listens. `other`: another server answers.
 */
type Presence = "own" | "busy" | "absent" | "other";

/** A lock file whose process has not listened for so long is stale, milliseconds. */
const STALE_LOCK_MS = 400;

/** A server that stops closes its port before its socket, but not for so long, milliseconds. */
const SOCKET_ALONE_MS = 2_000;

/** The connection string of a cluster's server. */
export function clusterUrl(cluster: Cluster, port: number, database: string = ROLE): string {
  return `postgres://${ROLE}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/** Most bytes of a socket's path (unix(7), `sun_path` without its end). */
const SOCKET_PATH_BYTES = 107;

/**
 * The connection string of a running server over its Unix socket, which costs both sides less than
 * TCP; over TCP where the socket cannot be used.
 */
export async function nearestUrl(cluster: Cluster, port: number): Promise<string> {
  const fault = await socketFault(socketPath(cluster, port));
  if (fault !== null) {
    logEvent("postgres.over_tcp", { reason: fault });
    return clusterUrl(cluster, port);
  }
  const folder = encodeURIComponent(cluster.folder);
  return `postgres://${ROLE}:${cluster.password}@${folder}:${port}/${ROLE}`;
}

/**
 * True where the file of a server's socket is gone: while the server runs, a program that cleans folders up took
 * it for an old one. A new one is made by the server's next start alone.
 */
export async function hasLostSocket(cluster: Cluster, port: number): Promise<boolean> {
  try {
    await Deno.lstat(socketPath(cluster, port));
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/**
 * True if a server answers on a socket in the cluster's folder. Sockets are found by their file, from
 * whatever container: unlike ports and process ids, which say nothing about another container's.
 */
async function answersOnSocket(folder: string): Promise<boolean> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!/^\.s\.PGSQL\.\d+$/.test(name)) continue;
    const path = join(folder, name);
    if (isTooLong(path)) continue;
    if (!await isDeserted(path)) return true;
  }
  return false;
}

/** True for a socket without a listener; false also where that cannot be found out. */
async function isDeserted(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return false;
  } catch (error) {
    return error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotFound;
  }
}

/** True for a socket that no program can name: it neither serves nor tells of its server. */
function isTooLong(path: string): boolean {
  return new TextEncoder().encode(path).length > SOCKET_PATH_BYTES;
}

function socketPath({ folder }: Cluster, port: number): string {
  return join(folder, `.s.PGSQL.${port}`);
}

/** The reason for which a socket cannot be used; null where it can. */
async function socketFault(path: string): Promise<string | null> {
  if (isTooLong(path)) {
    return `the path of its socket has more than ${SOCKET_PATH_BYTES} bytes: ${path}`;
  }
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return null;
  } catch (error) {
    return `its socket does not answer: ${error}`;
  }
}

/** Reads `postmaster.pid` (miscadmin.h, LOCK_FILE_LINE_*); null where there is none; port 0: not chosen yet. */
export async function readLockFile(folder: string): Promise<Running | null> {
  try {
    const text = await Deno.readTextFile(join(folder, "postmaster.pid"));
    const lines = text.split("\n").map((line) => line.trim());
    const pid = Math.abs(Number(lines[0]));
    return pid > 0 ? { pid, port: Number(lines[3] ?? "") || 0 } : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** True if a program listens on a loopback port. */
export async function isListening(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(2_000);
    (await Deno.connect({ hostname: "127.0.0.1", port, signal })).close();
    return true;
  } catch (error) {
    // anything else (a time-out) came from a listener that does not answer
    return !(error instanceof Deno.errors.ConnectionRefused);
  }
}

/**
 * Asks who listens on a port, and makes sure that the database is there when it is the cluster's server.
 *
 * @param boundMs how long an answer is waited for; without one the server is `busy`
 */
async function presenceOn(cluster: Cluster, port: number, boundMs: number): Promise<Presence> {
  if (!(await isListening(port))) return "absent";
  const sql = postgres(clusterUrl(cluster, port, "postgres"), {
    max: 1,
    connect_timeout: boundMs / 1_000,
    idle_timeout: 1,
    connection: { application_name: "engine-start", statement_timeout: 10_000 },
  });
  try {
    const [row] = await sql<{ folder: string; named: boolean }[]>`
      SELECT current_setting('data_directory') AS folder,
             EXISTS (SELECT FROM pg_database WHERE datname = ${ROLE}) AS named`;
    if (row === undefined || await Deno.realPath(row.folder) !== cluster.folder) return "other";
    if (!row.named) await sql`CREATE DATABASE ${sql(ROLE)}`;
    return "own";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // 28P01, 28000: another cluster's server; 08P01: not a PostgreSQL server at all
    const isOther = ["28P01", "28000", "08P01"].includes(code);
    return isOther || error instanceof Deno.errors.NotFound ? "other" : "busy";
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Starts the server's process, which outlives this one, and waits until it takes connections.
 *
 * @returns null once it does, otherwise what it printed before it gave up
 */
export async function launch(cluster: Cluster, boundMs: number): Promise<string | null> {
  const output = join(cluster.folder, "start.log");
  await removeIfThere(output);
  const seconds = Math.max(1, Math.ceil(boundMs / 1_000));
  const { success, text } = await pgCtl(cluster, seconds, "start", "-l", output);
  if (success) return null;
  return `${await readStored(output) ?? ""}\n${text}`.trim();
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function pgCtl({ binaries, folder, user }: Cluster, seconds: number, ...args: string[]) {
  return await runAs(user, binaries.pgCtl, [...args, "-D", folder, "-w", "-t", String(seconds)], {
    boundMs: (seconds + 5) * 1_000,
  });
}

/**
 * Brings the cluster's server up, or finds it running. The caller holds the cluster's file lock.
 *
 * @param wantedPort the port of the last start, `null` to choose one
 * @param deadline monotonic milliseconds (`performance.now()`) after which it is given up
 * @param fixed true if another port would be of no use
 * @throws {UnusableFolder} when another container's server runs on the cluster
 * @throws {Error} when the server cannot be started or found in time
 */
export async function startServer(
  cluster: Cluster,
  wantedPort: number | null,
  settings: Settings,
  deadline: number,
  fixed = false,
): Promise<Running> {
  let port = wantedPort ?? freePort();
  let absentSince: number | null = null;
  let socketAloneSince: number | null = null;
  // children of a killed server hold its port for a moment and never answer: ask again soon
  let boundMs = 125;
  for (;;) {
    const found = await readLockFile(cluster.folder);
    const presence = found?.port ? await presenceOn(cluster, found.port, boundMs) : "absent";
    if (found !== null && presence === "own") return found;
    if (presence === "busy") {
      boundMs = Math.min(2 * boundMs, 4_000);
      await waitUntil(deadline, cluster, "it neither starts nor stops");
      continue;
    }
    if (await answersOnSocket(cluster.folder)) {
      socketAloneSince ??= performance.now();
      if (performance.now() - socketAloneSince > SOCKET_ALONE_MS) {
        throw new UnusableFolder(
          `Cannot use the cluster ${cluster.folder} as a server of another container runs on it: ` +
            "stop it there, or start this one with another DATA_DIR",
        );
      }
      await waitUntil(deadline, cluster, "its server answers on its socket alone");
      continue;
    }
    if (!isFree(port)) {
      if (fixed) await waitUntil(deadline, cluster, `its port is taken: ${port}`, 200);
      else port = freePort();
      continue;
    }
    await writeSettings(cluster.folder, port, settings);
    // a stale one names a process that may be another program's by now; postmaster.pid guards the folder
    await removeIfThere(`${socketPath(cluster, port)}.lock`);
    const fault = await launch(cluster, deadline - performance.now());
    // the port may have been taken between the look and the start
    if (fault === null || !isFree(port)) continue;
    if (!isHeldByAnother(fault)) {
      const logged = await lastLogLines(cluster.folder);
      const text = [fault, logged].join("\n");
      throw new Error(`Cannot start the embedded PostgreSQL as the server gave up: ${text}`);
    }
    absentSince ??= performance.now();
    if (performance.now() - absentSince > STALE_LOCK_MS) await removeStaleLock(cluster, fault);
    await waitUntil(deadline, cluster, fault, 100);
  }
}

/** True if the server stopped because it saw (remains of) another one on the same cluster. */
function isHeldByAnother(fault: string): boolean {
  return [
    /lock file "[^"]*" already exists/,
    /pre-existing shared memory block/,
    /(lock|PID) file "[^"]*" is empty/,
    /(bogus|invalid) data in (lock|PID) file/,
  ].some((words) => words.test(fault));
}

/**
 * Removes a lock file whose process is dead but not yet reaped, whose process id now belongs to
 * another program, or that a crash of the machine left empty or unreadable: PostgreSQL cannot tell any
 * of them from a server. Should there be processes of an older server after all, the next start still
 * sees their shared memory, which it finds by the folder and not by the lock file.
 */
async function removeStaleLock(cluster: Cluster, fault: string): Promise<void> {
  if (!fault.includes("postmaster.pid")) return;
  const lock = await readLockFile(cluster.folder);
  if (lock?.port && await isListening(lock.port)) return;
  logEvent("postgres.lock_removed", {
    pid: lock?.pid ?? 0,
  });
  await removeIfThere(join(cluster.folder, "postmaster.pid"));
}

async function waitUntil(
  deadline: number,
  cluster: Cluster,
  reason: string,
  pauseMs = 50,
): Promise<void> {
  if (performance.now() > deadline) {
    throw new Error(
      `Cannot start the embedded PostgreSQL in time as ${reason}: ${cluster.folder}`,
    );
  }
  await delay(pauseMs);
}

async function lastLogLines(folder: string): Promise<string> {
  let newest = { path: "", time: 0 };
  try {
    for await (const entry of Deno.readDir(join(folder, "log"))) {
      const path = join(folder, "log", entry.name);
      const time = (await Deno.stat(path)).mtime?.getTime() ?? 0;
      if (time >= newest.time) newest = { path, time };
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const text = newest.path === "" ? "" : await Deno.readTextFile(newest.path);
  return text.trim().split("\n").slice(-8).join("\n");
}

/**
 * Stops the server of a cluster: open transactions are rolled back and a checkpoint is written;
 * when that takes too long, it stops at once and recovers at the next start.
 *
 * @param boundSeconds bound of the orderly stop
 */
export async function stopServer(cluster: Cluster, boundSeconds: number): Promise<void> {
  if ((await pgCtl(cluster, boundSeconds, "stop", "-m", "fast")).success) return;
  if ((await pgCtl(cluster, 10, "stop", "-m", "immediate")).success) return;
  const lock = await readLockFile(cluster.folder);
  if (!lock?.port || !(await isListening(lock.port))) return;
  throw new Error(`Cannot stop the embedded PostgreSQL as it does not react: process ${lock.pid}`);
}
