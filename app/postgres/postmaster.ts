/**
 * One PostgreSQL server process: finding it, starting it, stopping it.
 *
 * @module
 */

import { join } from "node:path";
import postgres from "postgres";
import { ROLE } from "./cluster.ts";
import type { PostgresBinaries, ServerUser } from "./programs.ts";

/** What is needed to start, find and stop the server of one cluster. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly folder: string;
  readonly password: string;
  readonly user: ServerUser | null;
  readonly binaries: PostgresBinaries;
}

/** What PostgreSQL writes in `postmaster.pid` (miscadmin.h, LOCK_FILE_LINE_*). */
export interface LockFile {
  readonly pid: number;
  /** `null` while the server is still choosing. */
  readonly port: number | null;
  /** `starting`, `ready`, `stopping`, `standby`, or empty while it is not written yet. */
  readonly status: string;
}

/**
 * What a connection attempt says about the server on a port.
 *
 * `ours`: our cluster answers. `busy`: a server that is starting, stopping or silent.
 * `absent`: nobody listens. `foreign`: somebody else answers.
 */
export type Presence = "ours" | "busy" | "absent" | "foreign";

/** The connection string of a cluster's server. */
export function clusterUrl(cluster: Cluster, port: number, database: string = ROLE): string {
  return `postgres://${ROLE}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/** Reads `postmaster.pid`, or `null` where there is none. */
export async function readLockFile(folder: string): Promise<LockFile | null> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(folder, "postmaster.pid"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  const port = Number(lines[3] ?? "");
  if (!Number.isInteger(pid) || pid === 0) return null;
  return { pid: Math.abs(pid), port: port > 0 ? port : null, status: lines[7] ?? "" };
}

/** True if anybody listens on a loopback port. */
export async function somebodyListens(port: number): Promise<boolean> {
  try {
    const connection = await Deno.connect({
      hostname: "127.0.0.1",
      port,
      signal: AbortSignal.timeout(2_000),
    });
    connection.close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    // Anything else (a time-out) came from a listener that does not answer.
    return true;
  }
}

/**
 * Asks who listens on a port, and makes sure that our database is there when it is our server.
 *
 * @param patienceMs how long an answer is waited for; without one the server is `busy`
 */
export async function presenceOn(
  cluster: Cluster,
  port: number,
  patienceMs: number,
): Promise<Presence> {
  if (!(await somebodyListens(port))) return "absent";
  const sql = postgres(clusterUrl(cluster, port, "postgres"), {
    max: 1,
    connect_timeout: patienceMs / 1_000,
    idle_timeout: 1,
    connection: { application_name: "engine-start", statement_timeout: 10_000 },
  });
  try {
    const [row] = await sql<{ folder: string; named: boolean }[]>`
      SELECT current_setting('data_directory') AS folder,
             EXISTS (SELECT FROM pg_database WHERE datname = ${ROLE}) AS named`;
    if (row === undefined || await Deno.realPath(row.folder) !== cluster.folder) return "foreign";
    if (!row.named) await sql`CREATE DATABASE ${sql(ROLE)}`;
    return "ours";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // 28P01, 28000: another cluster's server; 08P01: not a PostgreSQL server at all.
    if (code === "28P01" || code === "28000" || code === "08P01") return "foreign";
    if (error instanceof Deno.errors.NotFound) return "foreign";
    return "busy";
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** A port of the loopback interface that is free now. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** True if a loopback port can be listened on now. */
export function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}

/** A server process that we started. */
export interface StartedServer {
  readonly pid: number;
  /** Resolves when the process is gone; waiting for it does not keep this process alive. */
  readonly gone: Promise<void>;
  /** The same, and keeps this process alive until then. */
  end(): Promise<void>;
  /** What it printed before its log file took over. */
  said(): string;
}

/**
 * Starts the server in a session of its own, so that it outlives this process and gets none of its
 * terminal's signals.
 */
export function spawnServer(cluster: Cluster): StartedServer {
  const child = new Deno.Command(cluster.binaries.postgres, {
    args: ["-D", cluster.folder],
    ...(cluster.user === null ? {} : { uid: cluster.user.uid, gid: cluster.user.gid }),
    cwd: "/",
    clearEnv: true,
    env: { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    detached: true,
  }).spawn();
  child.unref();
  let said = "";
  const decoder = new TextDecoder();
  // Ends when the server's logging collector has taken over its output, or with the process.
  const listening = child.stderr.pipeTo(
    new WritableStream({
      write: (chunk) => {
        said = (said + decoder.decode(chunk, { stream: true })).slice(-4_000);
      },
    }),
  );
  const gone = Promise.all([child.status, listening]).then(() => undefined);
  const end = async () => {
    child.ref();
    await gone;
  };
  return { pid: child.pid, gone, end, said: () => said };
}

/**
 * Stops the server of a cluster: open transactions are rolled back and a checkpoint is written;
 * when that takes too long, it stops at once and recovers at the next start.
 *
 * @param patienceSeconds bound of the orderly stop
 */
export async function stopServer(cluster: Cluster, patienceSeconds: number): Promise<void> {
  if (await pgCtlStop(cluster, "fast", patienceSeconds)) return;
  if (await pgCtlStop(cluster, "immediate", 10)) return;
  const lock = await readLockFile(cluster.folder);
  if (lock === null || lock.port === null || !(await somebodyListens(lock.port))) return;
  throw new Error(`Cannot stop the embedded PostgreSQL as it does not react: process ${lock.pid}`);
}

async function pgCtlStop(cluster: Cluster, mode: string, seconds: number): Promise<boolean> {
  const { success } = await new Deno.Command(cluster.binaries.pgCtl, {
    args: ["stop", "-D", cluster.folder, "-m", mode, "-w", "-t", String(seconds)],
    ...(cluster.user === null ? {} : { uid: cluster.user.uid, gid: cluster.user.gid }),
    cwd: "/",
    clearEnv: true,
    env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout((seconds + 5) * 1_000),
  }).output();
  return success;
}
