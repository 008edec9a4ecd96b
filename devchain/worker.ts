/**
 * Entry of the worker that runs a chain beside the service, so that checking signatures does not
 * hold up the service's own event loop. Started by in_worker.ts.
 *
 * @module
 */

/// <reference lib="deno.worker" />

import { configure } from "@logtape/logtape";
import { type DevChain, type DevChainOptions, startDevChain } from "./start.ts";

/** Messages to the worker. */
export type ToWorker =
  | { readonly kind: "start"; readonly options: DevChainOptions }
  | { readonly kind: "stop" };

/** Messages from the worker. */
export type FromWorker =
  | { readonly kind: "started"; readonly chain: Omit<DevChain, "stop"> }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "problem"; readonly message: string }
  | { readonly kind: "stopped" };

let chain: DevChain | undefined;

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  switch (message.kind) {
    case "start":
      await start(message.options);
      return;
    case "stop":
      await chain?.stop();
      say({ kind: "stopped" });
      self.close();
      return;
    default:
      throw new TypeError(`Cannot handle an unknown message: ${message satisfies never}`);
  }
};

async function start(options: DevChainOptions): Promise<void> {
  // A worker has a log of its own; what it reports is logged by the service.
  await configure({
    sinks: {
      service: (record) => say({ kind: "problem", message: record.message.map(textOf).join("") }),
    },
    loggers: [
      { category: "engine", lowestLevel: "warning", sinks: ["service"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["service"] },
    ],
  });
  try {
    chain = await startDevChain(options);
    const { url, port, usdt, faucetAddress } = chain;
    say({ kind: "started", chain: { url, port, usdt, faucetAddress } });
  } catch (error) {
    say({ kind: "failed", message: textOf(error) });
  }
}

function say(message: FromWorker): void {
  self.postMessage(message);
}

function textOf(value: unknown): string {
  return value instanceof Error ? value.stack ?? value.message : String(value);
}
