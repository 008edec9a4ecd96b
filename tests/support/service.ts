/**
 * The real service as a child process on a data folder of its own, for tests that kill it: started
 * by the command of `deno task start`, with its embedded PostgreSQL and development chains.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ROLE } from "../../app/postgres/cluster.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { delay } from "../../ledger/database/delay.ts";
import { guardCluster } from "./cluster_guard.ts";
import { endAnvils } from "./end_anvils.ts";
import { bringCluster } from "./kept_cluster.ts";
import { removeCluster } from "./remove_cluster.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/**
 * Bound of one start; the first one may make a cluster. It is some 2 s of processor time, and one core
 * that is shared with other tests and other machines takes many times that for it.
 */
export const START_MS = 300_000;
/** Variables that a child needs from us; nothing else reaches it. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "DENO_DIR", "XDG_CACHE_HOME", "NPM_CONFIG_REGISTRY"];

const DevChain = z.object({ url: z.string(), usdt: z.string(), faucetAddress: z.string() });
const Credentials = z.object({
  baseUrl: z.string(),
  admin: z.object({ apiKey: z.string() }),
  merchant: z.object({ id: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
  chains: z.object({ TRX: DevChain }).catchall(DevChain),
});
/** Each network that is served costs every service some tenth of a core, for as long as its test lasts. */
const ONE_NETWORK = { DEV_CHAINS: "TRX" } as const;
/** Environment of a service with two networks, as `deno task start` has them. */
export const TWO_NETWORKS = { DEV_CHAINS: "TRX,TRX_SHASTA" } as const;

/** Keys and addresses that the service wrote into its data folder. */
export type Credentials = z.infer<typeof Credentials>;

/** End of the service's process. */
export interface End {
  readonly code: number;
  readonly signal: Deno.Signal | null;
}

/** Options of one start. */
export interface StartOptions {
  /** Crash point to arm, `name` or `name@n`. */
  readonly crashAt?: string;
  /** Environment of this start besides that of every start. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A service that a test may treat badly. */
export interface Service extends AsyncDisposable {
  readonly dataDir: string;
  /** As of the last start. */
  readonly credentials: Credentials;
  /** Process id of the last start. */
  readonly pid: number;
  /** Pool on the service's own database, for audits; survives every death of the service. */
  readonly sql: Sql;
  /** Starts it; resolves when it serves. Answers how many milliseconds that took. */
  start(options?: StartOptions): Promise<number>;
  /** Arms a crash point of the running service, `name` or `name@n`; returns when it is armed. */
  arm(crashAt: string): Promise<void>;
  /** Starts another one on the same folder beside it; resolves when that one has ended. */
  secondStart(): Promise<{ readonly code: number; readonly printed: string }>;
  /** Resolves when the process of the last start has ended. */
  readonly ended: Promise<End>;
  /** `kill -9` of the service alone; returns when it is gone. */
  kill9(): Promise<void>;
  /** Sends a signal. */
  signal(signal: Deno.Signal): void;
  /** `kill -9` of PostgreSQL and all its processes; returns when they are gone. */
  killDatabase(): Promise<void>;
  /** Everything it printed since its first start. */
  log(): Promise<string>;
}

/** Options of {@linkcode withService}. */
export interface ServiceOptions {
  /** Environment of every start, for example `DEV_CHAIN_BLOCK_MS`; `DEV_CHAINS` is TRX unless it says otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limit of descriptors of every start; the tests' own where absent. */
  readonly descriptors?: number;
  /** True: the first start finds no cluster and makes it, as that of a new installation; default false. */
  readonly withoutCluster?: boolean;
}

/**
 * Runs a function with a service of its own, not started yet. What the service printed is shown
 * when the function throws; service, database and files are gone afterwards in any case.
 */
export async function withService<T>(
  body: (service: Service) => Promise<T>,
  options: ServiceOptions = {},
): Promise<T> {
  await using service = await openService(options);
  try {
    return await body(service);
  } catch (error) {
    const printed = (await service.log()).split("\n").slice(-200).join("\n");
    // deno-lint-ignore no-console -- without the service's own words a failure says little
    console.error(error, `\n--- the service printed (last lines) ---\n${printed}\n---`);
    throw error;
  }
}

async function openService(options: ServiceOptions): Promise<Service> {
  const dataDir = await Deno.makeTempDir({ prefix: "engine-service-" });
  await Deno.chmod(dataDir, 0o755);
  const logFile = join(dataDir, "service.log");
  const pidFile = join(dataDir, "service.pid");
  await Deno.writeTextFile(logFile, "");
  const guard = await guardCluster(dataDir);
  if (options.withoutCluster !== true) await bringCluster(dataDir);
  const bounded = options.descriptors === undefined ? "" : `ulimit -n ${options.descriptors} && `;
  const command = bounded + await startCommand();
  const launch = {
    cwd: ROOT,
    clearEnv: true,
    env: {
      ...inherited(),
      DENO: Deno.execPath(),
      SERVICE_LOG: logFile,
      NO_COLOR: "1",
      PORT: "0",
      DATA_DIR: dataDir,
      ...ONE_NETWORK,
      ...options.env,
    },
    stdin: "null",
  } as const;
  let child: Deno.ChildProcess | null = null;
  let ended: Promise<End> = Promise.resolve({ code: 0, signal: null });
  let credentials: Credentials | null = null;
  let sql: Sql | null = null;
  let disposed = false;

  async function start({ crashAt, env }: StartOptions = {}): Promise<number> {
    if (disposed) throw new Error("Cannot start the service as its test is over");
    const began = performance.now();
    const printedBefore = (await Deno.stat(logFile)).size;
    const started = new Deno.Command("/bin/sh", {
      ...launch,
      args: ["-c", `${command} >>"$SERVICE_LOG" 2>&1`],
      env: {
        ...launch.env,
        ...(crashAt === undefined ? {} : { CRASH_POINT: crashAt }),
        ...env,
      },
      stdout: "null",
      stderr: "null",
    }).spawn();
    child = started;
    await Deno.writeTextFile(pidFile, String(started.pid));
    let over = false;
    ended = started.status.then(async ({ code, signal }) => {
      over = true;
      await Deno.remove(pidFile);
      return { code, signal };
    });
    while (!/^Ready: /m.test(await printedSince(logFile, printedBefore))) {
      if (over) break; // it may have passed an armed crash point while it started
      if (performance.now() - began > START_MS) {
        throw new Error("Cannot go on as the service did not start in time");
      }
      await delay(20);
    }
    if (!over) {
      const text = await Deno.readTextFile(join(dataDir, "dev-credentials.json"));
      credentials = Credentials.parse(JSON.parse(text));
    } else if (crashAt === undefined) {
      throw new Error("Cannot go on as the service ended while it started");
    }
    return Math.round(performance.now() - began);
  }

  return {
    dataDir,
    get credentials() {
      if (credentials === null) throw new Error("Cannot tell credentials before the first start");
      return credentials;
    },
    get pid() {
      if (child === null) throw new Error("Cannot tell a process before the first start");
      return child.pid;
    },
    get sql() {
      return sql ??= connect(databaseUrl(dataDir), {
        max: 4,
        applicationName: "audit",
        connectTimeoutMs: 60_000,
      });
    },
    start,
    arm: async (crashAt) => {
      const file = join(dataDir, "crash-point");
      await Deno.writeTextFile(file, crashAt);
      child?.kill("SIGUSR2");
      const began = performance.now();
      while (await exists(file)) {
        if (performance.now() - began > START_MS) {
          throw new Error(`Cannot go on as a crash point was not armed in time: ${crashAt}`);
        }
        await delay(5);
      }
    },
    secondStart: async () => {
      const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
        ...launch,
        args: ["-c", command],
        stdout: "piped",
        stderr: "piped",
        signal: AbortSignal.timeout(START_MS),
      }).output();
      const decoder = new TextDecoder();
      return { code, printed: decoder.decode(stdout) + decoder.decode(stderr) };
    },
    get ended() {
      return ended;
    },
    kill9: async () => {
      signalIfAlive(child, "SIGKILL");
      await ended;
    },
    signal: (signal) => child?.kill(signal),
    killDatabase: () => killServer(dataDir),
    log: () => Deno.readTextFile(logFile),
    [Symbol.asyncDispose]: async () => {
      disposed = true;
      signalIfAlive(child, "SIGKILL");
      await ended;
      await sql?.end({ timeout: 1 });
      await killServer(dataDir);
      await endAnvils(dataDir);
      await guard.release();
      await removeCluster(dataDir, await clusterFolder(dataDir));
    },
  };
}

/** The command of `deno task start`, so that the tests run under the very same permissions. */
async function startCommand(): Promise<string> {
  const config: unknown = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const { tasks } = z.object({ tasks: z.object({ start: z.string() }) }).parse(config);
  const command = tasks.start.replace(/\bdeno run\b/, 'exec "$DENO" run');
  if (command === tasks.start) {
    throw new Error(`Cannot start the service as its task is not understood: ${tasks.start}`);
  }
  return command;
}

function inherited(): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

async function printedSince(logFile: string, offset: number): Promise<string> {
  const bytes = await Deno.readFile(logFile);
  return new TextDecoder().decode(bytes.subarray(offset));
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function signalIfAlive(child: Deno.ChildProcess | null, signal: Deno.Signal): void {
  try {
    child?.kill(signal);
  } catch (error) {
    // it has ended by itself: what was wanted
    if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
  }
}

function databaseUrl(dataDir: string): string {
  const read = (name: string) => Deno.readTextFileSync(join(dataDir, name)).trim();
  return `postgres://${ROLE}:${read("postgres-password")}@127.0.0.1:${
    read("postgres-port")
  }/${ROLE}`;
}

async function clusterFolder(dataDir: string): Promise<string | null> {
  for (const name of ["postgres-path", "postgres/PG_VERSION"]) {
    try {
      const text = await Deno.readTextFile(join(dataDir, name));
      return name === "postgres-path" ? text.trim() : join(dataDir, "postgres");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

/** Kills the server of a data folder with every process it made, as a power cut would. */
async function killServer(dataDir: string): Promise<void> {
  const folder = await clusterFolder(dataDir);
  if (folder === null) return;
  const script = `
    pid="$(head -n 1 "$0/postmaster.pid" 2>/dev/null)"
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = postgres ] || exit 0
    family="$pid $(cat "/proc/$pid/task/$pid/children")"
    kill -KILL $family
    for member in $family; do
      while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$member/status"; do sleep 0.01; done
    done`;
  await new Deno.Command("/bin/sh", {
    args: ["-c", script, folder],
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(START_MS),
  }).output();
}
