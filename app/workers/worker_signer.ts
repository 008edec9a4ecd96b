/**
 * The signer's port over a worker: keys live in a thread with permissions of its own, and what the
 * service holds is only this client. Requests that were under way when a worker ended reject, and
 * nothing they asked for was committed.
 *
 * @module
 */

import {
  type RememberedSignature,
  type SignAnswer,
  type Signer,
  SignerUnavailable,
  type SignRequest,
} from "../../chains/signer.ts";
import type { SignerSettings } from "../../chains/signer/signer_settings.ts";
import { serveWorker } from "./serve_worker.ts";
import { WorkerClient } from "./worker_client.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Options of the worker. */
export interface WorkerSignerOptions {
  /** The worker's module, `app/commands/signer_worker.ts`. */
  readonly entry: URL;
  readonly settings: SignerSettings;
  /** See `signerPermissions`; what it does not name is denied. */
  readonly permissions: Deno.PermissionOptionsObject;
  /** Bound of one `sign`, waiting for a restart included, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
}

/** A {@linkcode Signer} in a worker. */
export interface WorkerSigner extends Required<Signer> {
  /**
   * Waits until the worker signs.
   *
   * @returns the wallet's id
   * @throws {Error} when it did not start, with the reason (wrong passphrase, no database, ...)
   */
  ready(): Promise<{ readonly walletId: string }>;
  /** Refuses every request as `paused` until set otherwise; kept over restarts. */
  setPaused(paused: boolean): void;
  /** Stops the worker; what is under way rejects. */
  close(): Promise<void>;
}

interface Settings extends SignerSettings {
  readonly paused: boolean;
}

type Request =
  | { readonly kind: "sign"; readonly requests: readonly SignRequest[] }
  | { readonly kind: "live"; readonly outgoingIds: readonly string[] };

/** Starts the signer's worker; {@linkcode WorkerSigner.ready} returns once it signs. */
export function createWorkerSigner(options: WorkerSignerOptions): WorkerSigner {
  const { entry, settings, permissions, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  let paused = false;
  const client = new WorkerClient<Request, readonly unknown[], { readonly walletId: string }>({
    name: "signer",
    entry,
    permissions,
    settings: (): Settings => ({ ...settings, paused }),
  });
  const unavailable = (error: unknown): never => {
    throw new SignerUnavailable(error instanceof Error ? error.message : String(error));
  };
  const call = (request: Request) => client.call(request, timeoutMs).catch(unavailable);
  return {
    ready: () => client.ready().catch(unavailable),
    sign: async (requests) => await call({ kind: "sign", requests }) as readonly SignAnswer[],
    live: async (outgoingIds) =>
      await call({ kind: "live", outgoingIds }) as readonly RememberedSignature[],
    setPaused(value): void {
      paused = value;
      client.notify(paused);
    },
    close: () => client.close(),
  };
}

/** A running signer and how to stop it. */
export interface RunningSigner {
  readonly signer: Required<Signer>;
  readonly walletId: string;
  close(): Promise<void>;
}

/** Serves a worker's side. @param start composes a signer; `isPaused` is the switch it must obey */
export function serveSigner(
  start: (settings: SignerSettings, isPaused: () => boolean) => Promise<RunningSigner>,
): void {
  serveWorker(async (settings: Settings) => {
    let { paused } = settings;
    const { signer, walletId, close } = await start(settings, () => paused);
    return {
      ready: { walletId },
      call: (request: Request): Promise<readonly unknown[]> =>
        request.kind === "sign" ? signer.sign(request.requests) : signer.live(request.outgoingIds),
      notified: (value) => paused = value === true,
      close,
    };
  });
}
