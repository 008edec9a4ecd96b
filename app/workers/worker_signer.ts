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
  /** Stops the worker; what is under way rejects. */
  close(): Promise<void>;
}

type Request =
  | { readonly kind: "sign"; readonly requests: readonly SignRequest[] }
  | { readonly kind: "live"; readonly outgoingIds: readonly string[] };

/** Starts the signer's worker; {@linkcode WorkerSigner.ready} returns once it signs. */
export function createWorkerSigner(options: WorkerSignerOptions): WorkerSigner {
  const { entry, settings, permissions, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const client = new WorkerClient<Request, readonly unknown[], { readonly walletId: string }>({
    name: "signer",
    entry,
    permissions,
    settings: () => settings,
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
    close: () => client.close(),
  };
}

/** A running signer and how to stop it. */
export interface RunningSigner {
  readonly signer: Required<Signer>;
  readonly walletId: string;
  close(): Promise<void>;
}

/** Serves a worker's side. @param start composes a signer */
export function serveSigner(start: (settings: SignerSettings) => Promise<RunningSigner>): void {
  serveWorker(async (settings: SignerSettings) => {
    const running = await start(settings);
    const { signer, walletId } = running;
    return {
      ready: { walletId },
      call: (request: Request): Promise<readonly unknown[]> =>
        request.kind === "sign" ? signer.sign(request.requests) : signer.live(request.outgoingIds),
      close: () => running.close(),
    };
  });
}
