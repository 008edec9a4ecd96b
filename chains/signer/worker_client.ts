/**
 * The signer's port over a worker: keys live in a thread with permissions of its own, and what the
 * service holds is only this client. A worker that dies is started again; requests that were under
 * way reject, and nothing they asked for was committed.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import {
  type RememberedSignature,
  type SignAnswer,
  type Signer,
  SignerUnavailable,
  type SignRequest,
} from "../signer.ts";
import type { FromWorker, SignerSettings, ToWorker } from "./worker_protocol.ts";

const logger = getLogger(["engine", "chains", "signer"]);

const DEFAULT_TIMEOUT_MS = 10_000;
const START_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;

/** How to start the worker. */
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
  /** Refuses every request as `paused` until told otherwise; kept over restarts. */
  setPaused(paused: boolean): void;
  /** Stops the worker; what is under way rejects. */
  close(): Promise<void>;
}

/** What a worker answers to a request. */
type Answered = Extract<FromWorker, { readonly kind: "answers" | "remembered" }>;
type Waiter = PromiseWithResolvers<Answered>;
type Readiness = PromiseWithResolvers<{ readonly walletId: string }>;

/** One worker from its start to its end. */
interface Life {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly closed: PromiseWithResolvers<void>;
}

/** A readiness that nobody needs to await: a failure reaches whoever does. */
function pendingReadiness(): Readiness {
  const readiness: Readiness = Promise.withResolvers();
  readiness.promise.catch(() => {});
  return readiness;
}

/** Bounds a wait. */
async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => expired.reject(new SignerUnavailable(`Cannot ${what} as ${Math.ceil(ms)} ms passed`)),
    ms,
  );
  try {
    return await Promise.race([work, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a message to a worker. */
function send(life: Life, message: ToWorker): void {
  life.port.postMessage(message);
}

/** Ends a worker at once. */
function end(life: Life): void {
  life.port.close();
  life.worker.terminate();
}

class Client implements WorkerSigner {
  readonly #options: WorkerSignerOptions;
  readonly #waiting = new Map<number, Waiter>();
  /** Kept once the current worker signs; a new one for every further worker. */
  #ready = pendingReadiness();
  /** `null` between the end of one worker and the start of the next. */
  #life: Life | null;
  #nextId = 1;
  #failures = 0;
  #paused = false;
  #closing = false;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WorkerSignerOptions) {
    this.#options = options;
    this.#life = this.#start();
  }

  ready(): Promise<{ readonly walletId: string }> {
    return within(this.#ready.promise, START_TIMEOUT_MS, "start the signer");
  }

  async sign(requests: readonly SignRequest[]): Promise<readonly SignAnswer[]> {
    const answer = await this.#ask((id) => ({ kind: "sign", id, requests }));
    if (answer.kind === "answers") return answer.answers;
    throw new Error("Cannot sign as the answer is none to the question");
  }

  async live(outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]> {
    const answer = await this.#ask((id) => ({ kind: "live", id, outgoingIds }));
    if (answer.kind === "remembered") return answer.signatures;
    throw new Error("Cannot tell what was signed as the answer is none to the question");
  }

  async #ask(request: (id: number) => ToWorker): Promise<Answered> {
    const timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const deadline = performance.now() + timeoutMs;
    await within(this.#ready.promise, timeoutMs, "reach the signer");
    const life = this.#life;
    if (life === null) throw new SignerUnavailable("Cannot sign as the signer is closed or ended");
    const id = this.#nextId++;
    const waiter: Waiter = Promise.withResolvers();
    this.#waiting.set(id, waiter);
    try {
      send(life, request(id));
      return await within(waiter.promise, Math.max(1, deadline - performance.now()), "sign");
    } finally {
      // Still there after a time-out: the worker is stuck, and its late answer must not count.
      if (this.#waiting.delete(id)) this.#die(life, "it did not answer in time");
    }
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    if (this.#life !== null) send(this.#life, { kind: "pause", paused });
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    clearTimeout(this.#restartTimer);
    const life = this.#life;
    this.#life = null;
    this.#abandon("it is closed");
    this.#ready.reject(new SignerUnavailable("Cannot sign as the signer is closed"));
    if (life === null) return;
    send(life, { kind: "close" });
    try {
      await within(life.closed.promise, CLOSE_TIMEOUT_MS, "close the signer");
    } catch (error) {
      logger.warn("The signer did not close by itself: {error}", { error });
    } finally {
      end(life);
    }
  }

  #start(): Life {
    const { entry, permissions, settings } = this.#options;
    const worker = new Worker(entry, { type: "module", name: "signer", deno: { permissions } });
    const { port1: port, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    const life: Life = { worker, port, closed: Promise.withResolvers() };
    port.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(life, event.data);
    worker.onerror = (event) => {
      // Otherwise the error would end the service.
      event.preventDefault();
      this.#die(life, event.message);
    };
    send(life, { kind: "start", settings, paused: this.#paused });
    return life;
  }

  #receive(life: Life, message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        this.#failures = 0;
        this.#ready.resolve({ walletId: message.walletId });
        return;
      case "start-failed":
        this.#die(life, message.message);
        return;
      case "answers":
      case "remembered":
        this.#take(message.id)?.resolve(message);
        return;
      case "failed":
        this.#take(message.id)?.reject(new SignerUnavailable(message.message));
        return;
      case "closed":
        life.closed.resolve();
        return;
      default:
        message satisfies never;
    }
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiter;
  }

  /** Lets everybody who waits for this worker know why in vain; later callers wait for the next. */
  #abandon(reason: string): void {
    this.#ready.reject(new SignerUnavailable(`Cannot start the signer as ${reason}`));
    this.#ready = pendingReadiness();
    for (const waiter of this.#waiting.values()) {
      waiter.reject(new SignerUnavailable(`Cannot sign as the signer ended: ${reason}`));
    }
    this.#waiting.clear();
  }

  /** Ends a worker and starts the next one after a pause. */
  #die(life: Life, reason: string): void {
    life.closed.resolve();
    if (life !== this.#life) return;
    end(life);
    this.#life = null;
    this.#abandon(reason);
    const pause = Math.min(
      FIRST_RESTART_MS * 2 ** Math.min(this.#failures, 10),
      LONGEST_RESTART_MS,
    );
    this.#failures += 1;
    logger.error("The signer ended and starts again in {pause} ms: {reason}", { pause, reason });
    this.#restartTimer = setTimeout(() => {
      this.#life = this.#start();
    }, pause);
  }
}

/** Starts the signer's worker; {@linkcode WorkerSigner.ready} tells how that went. */
export function createWorkerSigner(options: WorkerSignerOptions): WorkerSigner {
  return new Client(options);
}
