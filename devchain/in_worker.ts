/**
 * Starts a development chain in a worker of its own that may listen on loopback and touch its own
 * folder, nothing else.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { chainFolder, type DevChain, type DevChainOptions } from "./start.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

const START_MS = 15_000;
const STOP_MS = 5_000;

/**
 * Starts a chain in a worker.
 *
 * @param options as for {@linkcode startDevChain}
 * @param onCrash called when the worker dies later, with why
 * @returns once it listens
 * @throws when it could not start, with the worker's message
 */
export async function startDevChainInWorker(
  options: DevChainOptions,
  onCrash: (reason: Error) => void,
): Promise<DevChain> {
  const folder = chainFolder(options.dataDir, options.network);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    name: `dev-chain-${options.network}`,
    deno: {
      permissions: {
        net: [options.hostname ?? "127.0.0.1"],
        read: [folder],
        write: [folder],
        env: false,
        ffi: false,
        import: false,
        run: false,
        sys: false,
      },
    },
  });
  const logger = getLogger(["engine", "dev-chain"]);
  const started = Promise.withResolvers<Omit<DevChain, "stop">>();
  const stopped = Promise.withResolvers<void>();
  let running = false;
  let stopping = false;
  const died = (reason: Error) => {
    if (running && !stopping) onCrash(reason);
    started.reject(reason);
    stopped.resolve();
  };
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    switch (message.kind) {
      case "started":
        running = true;
        return started.resolve(message.chain);
      case "failed":
        return died(new Error(`Cannot start the development chain: ${message.message}`));
      case "problem":
        return logger.error("{network}: {message}", {
          network: options.network,
          message: message.message,
        });
      case "stopped":
        return stopped.resolve();
      default:
        throw new TypeError(`Cannot handle an unknown message: ${message satisfies never}`);
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    died(new Error(`The development chain ${options.network} died: ${event.message}`));
  };
  const tell = (message: ToWorker) => worker.postMessage(message);
  tell({ kind: "start", options });
  try {
    const chain = await within(START_MS, started.promise);
    return { ...chain, stop };
  } catch (error) {
    worker.terminate();
    throw error;
  }

  async function stop(): Promise<void> {
    if (!stopping) tell({ kind: "stop" });
    stopping = true;
    // State is on disk before every answer: a worker that does not stop in time loses nothing.
    await within(STOP_MS, stopped.promise).catch((error) => logger.warn("{error}", { error }));
    worker.terminate();
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The development chain did not answer within ${ms} ms`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
