/**
 * The two processes of a measurement of callbacks: one delivers, one receives.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { engineFlags, firstLine } from "../server_process.ts";

/** Whom the delivering process is to wake. */
export interface Whom {
  /** Merchants with new events. */
  readonly events: readonly string[];
  /** Merchants with new rows in their inboxes. */
  readonly inboxes: readonly string[];
}

/** Figures that the delivering process reports of itself. */
export interface Told {
  /** Processor time so far, microseconds. */
  readonly cpuUs: number;
  /** Commits with events since it was last asked: merchant, Unix milliseconds. */
  readonly committed: readonly (readonly [string, number])[];
}

/** Both processes. */
export interface DeliveryProcesses extends AsyncDisposable {
  /** Address of the receiver. */
  readonly receiver: string;
  wake(whom: Partial<Whom>): Promise<Told>;
  /** First arrivals since it was last asked: event, Unix milliseconds. */
  arrivals(): Promise<ReadonlyMap<string, number>>;
}

const ANSWER_MS = 30_000;

/** Starts both on a database. */
export async function startDelivery(databaseUrl: string): Promise<DeliveryProcesses> {
  const receiver = await start("receiver.ts", []);
  const deliverer = await start("deliver.ts", [databaseUrl]);
  const signal = () => AbortSignal.timeout(ANSWER_MS);
  return {
    receiver: receiver.url,
    wake: async ({ events = [], inboxes = [] }) => {
      const body = JSON.stringify({ events, inboxes } satisfies Whom);
      const answer = await fetch(deliverer.url, { method: "POST", body, signal: signal() });
      return await answer.json();
    },
    arrivals: async () => {
      const answer = await fetch(`${receiver.url}/arrivals`, { signal: signal() });
      return new Map<string, number>(await answer.json());
    },
    [Symbol.asyncDispose]: async () => {
      for (const { child } of [deliverer, receiver]) {
        child.kill("SIGKILL");
        await child.status;
      }
    },
  };
}

async function start(program: string, args: readonly string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...await engineFlags(),
      "--no-prompt",
      "--allow-net",
      "--allow-read",
      // of the Unix socket of the database
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      fileURLToPath(new URL(program, import.meta.url)),
      ...args,
    ],
    stdout: "piped",
    stdin: "null",
  }).spawn();
  const { url }: { readonly url: string } = JSON.parse(await firstLine(child.stdout));
  return { child, url };
}
