/**
 * The worker's side of the protocol: starts a signer, answers requests, closes.
 *
 * @module
 */

import type { Signer } from "../signer.ts";
import type { FromWorker, SignerSettings, ToWorker } from "./worker_protocol.ts";

/** A running signer and how to stop it. */
export interface RunningSigner {
  readonly signer: Required<Signer>;
  readonly walletId: string;
  close(): Promise<void>;
}

/** The text of an error. */
function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Composes a signer; `isPaused` is the switch it must obey. */
export type StartSigner = (
  settings: SignerSettings,
  isPaused: () => boolean,
) => Promise<RunningSigner>;

/** Serves the client that sends this worker a port, until told to close. */
export function serveSigner(start: StartSigner): void {
  globalThis.addEventListener("message", (event) => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port !== undefined) serve(port, start);
  }, { once: true });
}

/** Answers what comes through a port. */
function serve(port: MessagePort, start: StartSigner): void {
  let paused = false;
  let running: RunningSigner | null = null;
  const reply = (message: FromWorker): void => port.postMessage(message);

  const handle = async (message: ToWorker): Promise<void> => {
    switch (message.kind) {
      case "start":
        paused = message.paused;
        try {
          running = await start(message.settings, () => paused);
          reply({ kind: "ready", walletId: running.walletId });
        } catch (error) {
          reply({ kind: "start-failed", message: textOf(error) });
        }
        return;
      case "sign":
        try {
          if (running === null) throw new Error("Cannot sign as the signer is not started");
          const answers = await running.signer.sign(message.requests);
          reply({ kind: "answers", id: message.id, answers });
        } catch (error) {
          reply({ kind: "failed", id: message.id, message: textOf(error) });
        }
        return;
      case "live":
        try {
          if (running === null) {
            throw new Error("Cannot tell signatures as the signer is not started");
          }
          const signatures = await running.signer.live(message.outgoingIds);
          reply({ kind: "remembered", id: message.id, signatures });
        } catch (error) {
          reply({ kind: "failed", id: message.id, message: textOf(error) });
        }
        return;
      case "pause":
        paused = message.paused;
        return;
      case "close":
        await running?.close();
        running = null;
        reply({ kind: "closed" });
        port.close();
        globalThis.close();
        return;
      default:
        message satisfies never;
    }
  };

  port.onmessage = (event: MessageEvent<ToWorker>) => {
    handle(event.data);
  };
}
