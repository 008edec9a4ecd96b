import { fileURLToPath } from "node:url";
import { z } from "zod";
import { freePort } from "../../app/postgres/free_port.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { delay } from "../../ledger/database/delay.ts";
import { eventually, send } from "../faults/support/client.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { endAnvils } from "../support/end_anvils.ts";
import { START_MS } from "../support/service.ts";
import { kindOf } from "./chain_kinds.ts";

const ENTRY = fileURLToPath(new URL("../../app/commands/dev_chain.ts", import.meta.url));

/** Bound of an orderly end. */
const STOP_MS = 20_000;

const Info = z.object({
  usdt: z.string(),
  faucetAddress: z.string(),
  head: z.number(),
  solid: z.number(),
  pending: z.number(),
});

/** State that the chain reports of itself. */
export type ChainInfo = z.infer<typeof Info>;

/** A development chain in a process of its own, on a port and a folder that it keeps. */
export interface ChainProcess extends AsyncDisposable {
  readonly url: string;
  info(): Promise<ChainInfo>;
  /** Sends a control request once. @throws when no answer came, or it was refused */
  control(path: string, body: unknown): Promise<unknown>;
  /** `kill -9`, a pause, and a start on the same folder; returns when it answers again. */
  killAndStart(pauseMs: number): Promise<void>;
  /** `kill -9` of the program behind the node; returns when there are blocks again. */
  killAnvil(): Promise<void>;
}

/** Starts a chain. */
export async function startChain(
  network: Network,
  pace: { readonly blockMs: number; readonly solidLag: number },
): Promise<ChainProcess> {
  const folder = await Deno.makeTempDir({ prefix: "engine-soak-chain-" });
  // until the folder is gone
  await guardCluster(folder);
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const spawn = async () => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-net=127.0.0.1",
        "--allow-read",
        "--allow-write",
        ...kindOf(network).permissions,
        ENTRY,
        ...["--network", network, "--port", String(port), "--data", folder],
        ...["--block-ms", String(pace.blockMs), "--solid-lag", String(pace.solidLag)],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    await Deno.writeTextFile(`${folder}/service.pid`, String(child.pid));
    return child;
  };
  const info = async () => Info.parse((await send(`${url}/dev/info`, "GET")).body);
  let child = await spawn();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.status;
  };
  await eventually("the chain", info, START_MS);
  return {
    url,
    info,
    control: async (path, body) => {
      const answer = await send(url + path, "POST", body);
      if (answer.status === 200) return answer.body;
      throw new RangeError(`The chain refused ${path}: ${JSON.stringify(answer.body)}`);
    },
    killAndStart: async (pauseMs) => {
      await kill();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      child = await spawn();
      await eventually("the chain", info, START_MS);
    },
    killAnvil: async () => {
      const { head } = await info();
      await endAnvils(folder);
      await eventually("blocks again", async () => (await info()).head > head, START_MS);
    },
    [Symbol.asyncDispose]: async () => {
      // in order: one that is killed leaves the program behind that carries transactions out for it
      child.kill("SIGINT");
      const over = new AbortController();
      const late = delay(STOP_MS, over.signal).then(() => {
        if (!over.signal.aborted) child.kill("SIGKILL");
      });
      await child.status;
      over.abort();
      await late;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
