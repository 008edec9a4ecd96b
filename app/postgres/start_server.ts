/**
 * Bringing a cluster's server up, whatever the last one left behind.
 *
 * @module
 */

import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import { type Settings, writeSettings } from "./cluster.ts";
import { delay } from "../../ledger/database/delay.ts";
import {
  type Cluster,
  freePort,
  isFree,
  presenceOn,
  readLockFile,
  somebodyListens,
  spawnServer,
  type StartedServer,
} from "./postmaster.ts";

const log = getLogger(["engine", "database"]);

/** A server that answers. */
export interface Running {
  readonly port: number;
  readonly pid: number;
  /** The process when it is our child. */
  readonly child: StartedServer | null;
}

/** How long a lock file may name a process that does not listen before it counts as stale. */
const STALE_LOCK_MS = 400;

/**
 * Brings the cluster's server up, or finds it running. The caller holds the cluster's file lock.
 *
 * @param wantedPort the port to keep, `null` to choose one
 * @param deadline Unix milliseconds after which it is given up
 * @param fixed whether another port would be of no use
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

/** True if the server stopped because it saw (remains of) another one on the same cluster. */
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
