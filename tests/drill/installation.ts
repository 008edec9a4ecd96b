/**
 * An installation as docs/operations.md has it, on this machine and on a development chain: a PostgreSQL
 * server, the signer and services as processes of their own, each with its own variables. Drills
 * treat it as an operator would.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { z } from "zod";
import { admin } from "../../app/commands/admin.ts";
import { serviceFlags } from "../../app/commands/service_flags.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { publicFileText } from "../../chains/wallet/public_wallet.ts";
import { startDevChain } from "../../devchain/start.ts";
import { delay } from "../../ledger/database/delay.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { startDebianPostgres, type TestServer } from "../support/debian_postgres.ts";
import { removeCluster } from "../support/remove_cluster.ts";
import { type SignerProcess, signerProcess } from "../signer/support/signer_process.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
/** Bound of whatever a drill waits for. */
export const BOUND_MS = 180_000;
const INHERITED = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "NPM_CONFIG_REGISTRY"];
const NETWORKS = ["TRX", "TRX_SHASTA"] as const;
/** Passphrase of the wallet at the start. */
export const PASSPHRASE = "a passphrase of twelve words or so";

const Credentials = z.object({
  baseUrl: z.string(),
  admin: z.object({ apiKey: z.string(), ingestSecret: z.string() }),
  merchant: z.object({ id: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
});
type Credentials = z.infer<typeof Credentials>;

/** A service's process. */
export interface ServiceProcess {
  readonly url: string;
  /** Tells it to stop as a service manager does; resolves with its exit code. */
  stop(): Promise<number>;
}

/** The whole of it. */
export interface Installation extends AsyncDisposable {
  /** Folder of everything. */
  readonly folder: string;
  readonly signer: SignerProcess;
  readonly chain: { readonly url: string; readonly usdt: string };
  /** Variables of the service; a drill changes them between two starts. */
  readonly env: Record<string, string>;
  /** The signer's. */
  readonly signerEnv: Record<string, string>;
  readonly credentials: Credentials;
  /** The server that runs now. */
  database: TestServer;
  /** Starts a service; `name` is that of its data folder. Resolves when it is ready. */
  startService(name: string): Promise<ServiceProcess>;
  /** Carries out `deno task admin ...` against a service. @throws where it is refused */
  admin(service: ServiceProcess, ...line: readonly string[]): Promise<string>;
  /** Uses another key of an account from now on. */
  useKey(account: "admin" | "merchant", apiKey: string): void;
  /** A request as the merchant. */
  call(service: ServiceProcess, method: string, path: string, body?: unknown): Promise<Response>;
  /** A pool of the database's owner. */
  connect(): Sql;
}

/** An empty server of Debian's PostgreSQL, which is removed at its end. */
export async function openServer(): Promise<TestServer & AsyncDisposable> {
  const dataDir = await Deno.makeTempDir({ prefix: "engine-drill-" });
  await Deno.chmod(dataDir, 0o755);
  const guard = await guardCluster(dataDir);
  const end = async () => {
    await guard.release();
    await removeCluster(dataDir, null);
  };
  try {
    const server = await startDebianPostgres(dataDir, {});
    return {
      ...server,
      async [Symbol.asyncDispose]() {
        await server.stop();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Sets one up; the signer runs, and no service yet. */
export async function openInstallation(): Promise<Installation> {
  const folder = await Deno.makeTempDir({ prefix: "engine-drill-" });
  await Deno.chmod(folder, 0o755);
  const ends: (() => PromiseLike<unknown>)[] = [];
  const end = async () => {
    for (const one of ends.toReversed()) await one();
    await Deno.remove(folder, { recursive: true });
  };
  try {
    const dataDir = `${folder}/postgres-1`;
    await Deno.mkdir(dataDir, { mode: 0o755 });
    const guard = await guardCluster(dataDir);
    ends.push(() => removeCluster(dataDir, null), () => guard.release());
    const database = await startDebianPostgres(dataDir, {});
    ends.push(() => installation.database.stop());
    const chains = new Map<string, { readonly url: string; readonly usdt: string }>();
    for (const network of NETWORKS) {
      const options = { network, dataDir: folder, port: 0, blockMs: 300, solidLag: 2 };
      const chain = await startDevChain(options);
      ends.push(() => chain.stop());
      chains.set(network, chain);
    }
    const chain = chains.get("TRX");
    if (chain === undefined) throw new Error("Cannot drill without a chain");
    const walletFile = `${folder}/wallet.json`;
    await Deno.writeTextFile(`${folder}/passphrase`, PASSPHRASE, { mode: 0o600 });
    const wallet = await createWallet({
      file: walletFile,
      passphrase: PASSPHRASE,
      passphraseIsRandom: true, // hardly stretched, as each start of the signer unlocks it
      networks: NETWORKS,
      development: true,
    });
    await Deno.writeTextFile(`${folder}/public.json`, publicFileText(wallet), { mode: 0o600 });
    const both = Object.fromEntries(
      [...chains].map(([network, { usdt }]) => [`${network}_USDT_CONTRACT`, usdt]),
    );
    const signerEnv: Record<string, string> = {
      ...both,
      ENVIRONMENT: "development",
      WALLET_FILE: walletFile,
      WALLET_PASSPHRASE_FILE: `${folder}/passphrase`,
      SIGNER_DATABASE_URL: database.url,
      TRX_SIGNER_PER_TRANSACTION: "USDT:500",
      TRX_SIGNER_PER_DAY: "USDT:10000",
    };
    const signer = await signerProcess({});
    ends.push(() => signer[Symbol.asyncDispose]());
    const env: Record<string, string> = {
      ...both,
      ...Object.fromEntries([...chains].map(([name, { url }]) => [`${name}_NODE_URLS`, url])),
      ...Object.fromEntries(NETWORKS.map((network) => [`${network}_SWEEPS`, "off"])),
      ENVIRONMENT: "development",
      PORT: "0",
      DRAIN_SECONDS: "2",
      LOG_LEVEL: "warning",
      DATABASE_URL: database.url,
      WALLET_FILE: `${folder}/public.json`,
      SIGNER_SOCKET: signer.socket,
      SESSION_SECRET: randomSecret(),
      INGEST_SECRET: randomSecret(),
      CALLBACK_SECRETS_KEY: randomSecret(),
    };
    // what the first start writes; one more node is given the same keys
    let kept: string | null = null;
    const known = () => {
      if (kept === null) throw new Error("Cannot tell keys before the first start");
      return Credentials.parse(JSON.parse(kept));
    };
    const installation: Installation = {
      database,
      folder,
      signer,
      chain,
      env,
      signerEnv,
      get credentials() {
        return known();
      },
      async startService(name: string) {
        const data = `${folder}/${name}`;
        await Deno.mkdir(data, { recursive: true, mode: 0o700 });
        const file = `${data}/dev-credentials.json`;
        if (kept !== null) await Deno.writeTextFile(file, kept, { mode: 0o600 });
        const service = await startProcess({ ...env, DATA_DIR: data });
        ends.push(service.stop);
        kept = await Deno.readTextFile(file);
        return service;
      },
      async admin(service: ServiceProcess, ...line: readonly string[]) {
        const lines: string[] = [];
        const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
        const own = { ...env, PUBLIC_URL: service.url, ADMIN_API_KEY: known().admin.apiKey };
        const code = await admin(line, own, { log: say, error: say });
        if (code !== 0) {
          throw new Error(`Cannot go on: admin ${line.join(" ")}: ${lines.join("\n")}`);
        }
        return lines.join("\n");
      },
      useKey(account, apiKey) {
        const all = JSON.parse(kept ?? "{}");
        kept = JSON.stringify({ ...all, [account]: { ...all[account], apiKey } });
      },
      call: (service: ServiceProcess, method: string, path: string, body?: unknown) =>
        fetch(service.url + path, {
          method,
          headers: { authorization: known().merchant.apiKey, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(30_000),
        }),
      connect: () => connect(installation.database.url, { max: 2, applicationName: "drill" }),
      [Symbol.asyncDispose]: end,
    };
    return installation;
  } catch (error) {
    await end();
    throw error;
  }
}

/** 64 random hexadecimal digits. */
export function randomSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** Starts a service with the permissions of `deno task serve`; resolves when it is ready. */
async function startProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const answer = serviceFlags(env, ROOT);
  if (!answer.ok) throw new Error(`Cannot start a service as ${answer.fault}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", ...answer.flags, "main.ts"],
    cwd: ROOT,
    clearEnv: true,
    env: {
      NO_COLOR: "1",
      ...Object.fromEntries(INHERITED.flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      })),
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let printed = "";
  let over = false;
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) printed += text;
  };
  const read = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const ended = child.status.then(async ({ code }) => {
    over = true;
    await read;
    return code;
  });
  const service = {
    url: "",
    stop: async () => {
      if (!over) child.kill("SIGTERM");
      return await ended;
    },
  };
  try {
    service.url = await eventually("the start of a service", () => {
      if (over) throw new Error(`Cannot go on as the service ended:\n${printed}`);
      return Promise.resolve(/^Ready: (http:\/\/[\d.:]+)/m.exec(printed)?.[1]);
    });
    await eventually(
      "a ready service",
      async () => (await fetchStatus(`${service.url}/readyz`)) === 200,
    );
  } catch (error) {
    if (!over) child.kill("SIGKILL");
    await ended;
    throw new Error(`${error instanceof Error ? error.message : error}\n${printed}`);
  }
  return service;
}

/** The status of an answer. */
export async function fetchStatus(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}

/** Asks until the answer is neither false nor undefined. @throws {Error} after {@linkcode BOUND_MS} */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + BOUND_MS;
  for (;;) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) {
      throw new Error(`Cannot go on as this does not come: ${what}`);
    }
    await delay(100);
  }
}
