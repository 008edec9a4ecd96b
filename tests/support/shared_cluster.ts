/**
 * One PostgreSQL server for all test files of a checkout. A keeper process
 * ([cluster_keeper.ts](./cluster_keeper.ts)) owns it: it starts with the first test that asks and
 * ends by itself when no test has been connected for a while, however the tests ended.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { kill } from "node:process";
import { dirname, join } from "node:path";
import { delay } from "../../ledger/database/delay.ts";
import { withFileLock } from "../../app/postgres/file_lock.ts";

/** Folder of the shared cluster and of what is written about it. */
export const SHARED_FOLDER: string = fileURLToPath(
  new URL("../output/shared_cluster/", import.meta.url),
);
/** Held while the cluster starts, ends, or is joined. */
export const SHARED_LOCK: string = join(SHARED_FOLDER, "keeper.lock");
/** Written by the keeper when the server is ready, removed before it stops. */
export const READY_FILE: string = join(SHARED_FOLDER, "ready.json");

/** Contents of {@linkcode READY_FILE}. */
export interface Ready {
  readonly url: string;
  /** The same over the Unix socket where it can be used: both sides pay less for it than for TCP. */
  readonly nearestUrl: string;
  readonly keeperPid: number;
}

/** Bound of the start, and of the wait for the files that asked before. */
const START_TIMEOUT_MS = 180_000;

/**
 * Connects to the shared server, which is started when it does not run.
 *
 * @param join opens a connection that keeps the server alive while it is open
 * @returns what `join` returned
 */
export async function joinSharedCluster<T>(
  join: (urls: Pick<Ready, "url" | "nearestUrl">) => Promise<T>,
): Promise<T> {
  const given = Deno.env.get("TEST_DATABASE_URL");
  if (given) return await join({ url: given, nearestUrl: given });
  await Deno.mkdir(SHARED_FOLDER, { recursive: true });
  const deadline = performance.now() + START_TIMEOUT_MS;
  return await withFileLock(SHARED_LOCK, deadline, async () => {
    let ready = await runningKeeper();
    if (ready === null) {
      const keeper = await launchKeeper();
      while ((ready = await runningKeeper()) === null) {
        if (performance.now() > deadline || !isAlive(keeper)) throw new Error(await startFailure());
        await delay(20);
      }
    }
    return await join(ready);
  });
}

async function runningKeeper(): Promise<Ready | null> {
  try {
    const ready: Ready = JSON.parse(await Deno.readTextFile(READY_FILE));
    return isAlive(ready.keeperPid) ? ready : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** True when a process exists. */
export function isAlive(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EPERM") return true;
    return false;
  }
}

/**
 * Starts the keeper as a child of no test process, so that no test is held responsible for it.
 *
 * @returns its process id
 */
async function launchKeeper(): Promise<number> {
  const program = fileURLToPath(new URL("./cluster_keeper.ts", import.meta.url));
  const log = join(SHARED_FOLDER, "keeper.log");
  // Whatever the tests were started with (a lock, a pipe) is not to stay taken while the keeper waits.
  const script = `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    "$0" run --no-prompt -A "$1" </dev/null >"$2" 2>&1 & echo $!`;
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, Deno.execPath(), program, log],
    cwd: dirname(program),
    // A session of its own (which spawn() gives and output() does not): Ctrl-C ends the tests only.
    detached: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn().output();
  const pid = parseInt(new TextDecoder().decode(stdout), 10);
  if (!(pid > 0)) throw new Error("Cannot start the keeper of the test database");
  return pid;
}

async function startFailure(): Promise<string> {
  const log = await Deno.readTextFile(join(SHARED_FOLDER, "keeper.log"));
  return `Cannot start the test database: ${log}`;
}
