/**
 * A development chain in a worker that may listen on loopback, touch its own folder, and use the program
 * that its family names, nothing else.
 *
 * @module
 */

import { configure } from "@logtape/logtape";
import { fileURLToPath } from "node:url";
import { familyOf } from "../../chains/families.ts";
import { chainFolder, type DevChain, type DevChainOptions } from "../../devchain/options.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { logEvent } from "../../log/log_event.ts";
import { serveWorker } from "./serve_worker.ts";
import { WorkerClient } from "./worker_client.ts";

/** A machine that is busy with other things takes long to load a chain; the start of the service waits for it. */
const START_MS = 60_000;
/** Folders of this project that a development chain is made of. */
const CODE = ["chains", "devchain", "ledger", "log", "node_modules"];

/** A chain of a network, whose family starts it. */
export interface NetworkChainOptions extends DevChainOptions {
  readonly network: Network;
}

/** Address and accounts of a chain. */
type Started = Omit<DevChain, "stop">;

/**
 * Starts a chain in a worker. Should the worker die, it is started again on the same port, with the
 * chain as it was: its state is on disk before every answer.
 *
 * @param entry the worker's module, `app/commands/dev_chain_worker.ts`
 * @returns once it listens
 * @throws {WorkerUnavailable} when it could not start, with the worker's message
 * @throws {DevelopmentMissing} when the program that it needs is not there
 */
export async function startDevChainInWorker(
  entry: URL,
  options: NetworkChainOptions,
): Promise<DevChain> {
  const { network } = options;
  const program = await familyOf(network).development.program();
  const folder = chainFolder(options.dataDir, network);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  let { port } = options;
  const client = new WorkerClient<never, never, Started>({
    name: `development chain ${network}`,
    entry,
    permissions: {
      net: [options.hostname ?? "127.0.0.1"],
      read: [folder, ...codeFolders(entry), ...program?.files ?? []],
      write: [folder],
      env: false,
      ffi: false,
      import: false,
      run: program === null ? false : [program.path, ...program.enders],
      sys: false,
    },
    settings: (): NetworkChainOptions => ({ ...options, port }),
    reply: (message) => Promise.resolve(logEvent("devchain.message", { network, message })),
    startTimeoutMs: START_MS,
  });
  try {
    const chain = await client.ready();
    port = chain.port;
    return { ...chain, stop: () => client.close() };
  } catch (error) {
    await client.close(0);
    throw error;
  }
}

/** The code that the worker loads once it knows its network, seen from its entry. */
function codeFolders(entry: URL): readonly string[] {
  return CODE.map((folder) => fileURLToPath(new URL(`../../${folder}/`, entry)));
}

/** Serves a worker's side. */
export function serveDevChain(): void {
  serveWorker(async (options: NetworkChainOptions, ask) => {
    // a worker has a log of its own; what it reports is logged by the service
    await configure({
      sinks: { service: (record) => void ask(record.message.map(textOf).join("")) },
      loggers: [
        { category: "engine", lowestLevel: "warning", sinks: ["service"] },
        { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["service"] },
      ],
    });
    const { stop, ...ready } = await familyOf(options.network).development.start(options);
    return {
      ready,
      call: () => Promise.reject(new Error("Cannot serve a call as the chain is asked over HTTP")),
      close: stop,
    };
  });
}

function textOf(value: unknown): string {
  return value instanceof Error ? value.stack ?? value.message : String(value);
}
