/**
 * The signer as a process of its own, started as `deno task signer` starts it, for tests that kill
 * it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { askStatus } from "../../../app/commands/signer/ask_status.ts";
import { delay } from "../../../ledger/database/delay.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_MS = 300_000;
const INHERITED = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "NPM_CONFIG_REGISTRY"];

/** A signer that a test may treat badly. */
export interface SignerProcess extends AsyncDisposable {
  readonly socket: string;
  readonly stateDir: string;
  /** Variables that it is started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts it; resolves when it answers. @param more variables of this start and its verbs */
  start(more?: Readonly<Record<string, string>>): Promise<void>;
  /** `kill -9` of the process that holds the keys; returns when it is gone. */
  kill9(): Promise<void>;
  /** `kill -9` of the command that started it. */
  killCommand(): Promise<void>;
  /** Asks it to stop, as a service manager would. Answers its exit code. */
  stop(): Promise<number>;
  /** Carries out a verb of the command. */
  verb(...args: readonly string[]): Promise<{ readonly code: number; readonly printed: string }>;
  /** Everything it printed. */
  log(): string;
}

/**
 * Makes the folders of a signer; nothing is started yet.
 *
 * @param env what every start is given beside its socket and its state
 */
export async function signerProcess(
  env: Readonly<Record<string, string>>,
): Promise<SignerProcess> {
  const folder = await Deno.makeTempDir({ prefix: "signer-" });
  const socket = `${folder}/run/signer.sock`;
  const stateDir = `${folder}/state`;
  const all = {
    ...Object.fromEntries(INHERITED.flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    })),
    NO_COLOR: "1",
    SIGNER_SOCKET: socket,
    SIGNER_STATE_DIR: stateDir,
    ...env,
  };
  let printed = "";
  let child: Deno.ChildProcess | null = null;
  let latest: Readonly<Record<string, string>> = {};
  let reading: Promise<unknown> = Promise.resolve();

  const command = (args: readonly string[], more: Readonly<Record<string, string>>) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-read",
        "--allow-write",
        "--allow-env",
        "--allow-net",
        "--allow-run",
        "app/commands/signer.ts",
        ...args,
      ],
      cwd: ROOT,
      clearEnv: true,
      env: { ...all, ...more },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) printed += text;
  };

  return {
    socket,
    stateDir,
    env: all,
    async start(more = {}) {
      latest = more;
      const started = command([], more).spawn();
      child = started;
      reading = Promise.all([collect(started.stdout), collect(started.stderr)]);
      let isOver = false;
      void started.status.then(() => isOver = true);
      const deadline = performance.now() + START_MS;
      while (await askStatus(socket) === null) {
        if (isOver || performance.now() > deadline) {
          throw new Error(`Cannot go on as the signer did not start:\n${printed}`);
        }
        await delay(20);
      }
    },
    async kill9() {
      const pid = parseInt(await Deno.readTextFile(`${stateDir}/service.lock`), 10);
      Deno.kill(pid, "SIGKILL");
      await child?.status;
      await reading;
    },
    async killCommand() {
      child?.kill("SIGKILL");
      await child?.status;
    },
    async stop() {
      child?.kill("SIGTERM");
      const status = await child?.status;
      await reading;
      return status?.code ?? 0;
    },
    async verb(...args) {
      const { code, stdout, stderr } = await command(args, latest).output();
      const decoder = new TextDecoder();
      return { code, printed: decoder.decode(stdout) + decoder.decode(stderr) };
    },
    log: () => printed,
    async [Symbol.asyncDispose]() {
      try {
        child?.kill("SIGTERM");
      } catch (error) {
        // it has ended by itself
        if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
      }
      await child?.status;
      await reading;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
