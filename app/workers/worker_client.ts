/**
 * Calls to a worker that has permissions of its own. A worker that ends or is stuck is started
 * again after a growing pause; calls that it had received reject, as it is unknown how far they went.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";

const START_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A worker that ran for so long has not failed to start. */
const SETTLED_MS = 30_000;

/** A call got no response: the worker ended, is stuck or is closed. */
export class WorkerUnavailable extends Error {
  override readonly name = "WorkerUnavailable";

  /**
   * @param reason what ended the worker, in its own words
   * @param wasReceived false: no worker had the call, so that nothing of it was done
   */
  constructor(what: string, readonly reason: string, readonly wasReceived: boolean) {
    super(`Cannot ${what} as ${reason}`);
  }
}

/** From the service to a worker. */
export type ToWorker =
  | { readonly kind: "start"; readonly settings: unknown }
  | {
    readonly kind: "calls";
    readonly calls: readonly { readonly id: number; readonly request: unknown }[];
  }
  | { readonly kind: "cancel"; readonly ids: readonly number[] }
  | { readonly kind: "reply"; readonly id: number; readonly reply: unknown }
  | { readonly kind: "close" };

/** The end of a call. `fault` is an error's message, null where there is a response. */
export interface Result {
  readonly id: number;
  readonly response: unknown;
  readonly fault: string | null;
}

/** From a worker to the service. */
export type FromWorker =
  | { readonly kind: "ready"; readonly ready: unknown }
  | { readonly kind: "start-failed"; readonly message: string }
  | { readonly kind: "results"; readonly results: readonly Result[] }
  | { readonly kind: "question"; readonly id: number; readonly question: unknown }
  | { readonly kind: "closed" };

/** Options of a {@linkcode WorkerClient}. */
export interface WorkerClientOptions {
  /** Names it in logs and errors, for example `signer`. */
  readonly name: string;
  /** A module that calls `serveWorker`. */
  readonly entry: URL;
  readonly permissions: Deno.PermissionOptionsObject;
  /** Asked at every start. */
  readonly settings: () => unknown;
  /** Answers what the worker asks. */
  readonly reply?: (question: unknown) => Promise<unknown>;
  /** A worker that is not ready for so long is replaced, milliseconds; default 30,000. */
  readonly startTimeoutMs?: number;
}

/** One worker from its start to its end. */
interface Instance {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly startedAt: number;
  readonly closed: PromiseWithResolvers<void>;
  /** Replaces it where it does not become ready. */
  startTimer: ReturnType<typeof setTimeout> | undefined;
  isReady: boolean;
}

interface Call<Response> extends PromiseWithResolvers<Response> {
  readonly timer: ReturnType<typeof setTimeout>;
  readonly cancelledWith: Set<number> | undefined;
  /** True if a worker has received it. */
  isSent: boolean;
}

/** A worker that is called. */
export class WorkerClient<Request, Response, Ready = null> {
  readonly #options: WorkerClientOptions;
  readonly #calls = new Map<number, Call<Response>>();
  readonly #cancelledBy = new WeakMap<AbortSignal, Set<number>>();
  #unsent: { readonly id: number; readonly request: Request }[] = [];
  #ready = pending<Ready>();
  /** Null between the end of one worker and the start of the next. */
  #instance: Instance | null = null;
  #nextId = 1;
  #failures = 0;
  #restarts = 0;
  /** Begin of the time without a ready worker in the place of one, milliseconds of the monotonic clock; null: one is ready. */
  #awaySince: number | null = null;
  #isClosed = false;
  #restart: ReturnType<typeof setTimeout> | undefined;

  /** @throws where the runtime starts no worker */
  constructor(options: WorkerClientOptions) {
    this.#options = options;
    this.#instance = this.#start();
  }

  /** Calls under way, how often the worker was started again, and for how long none is ready. */
  get figures() {
    return {
      underWay: this.#calls.size,
      restarts: this.#restarts,
      awayMs: this.#awaySince === null ? 0 : performance.now() - this.#awaySince,
    };
  }

  /**
   * Waits until the worker is ready, as long as a start may take.
   *
   * @returns what its start returned
   * @throws {WorkerUnavailable} with the reason, where it did not start
   */
  ready(): Promise<Ready> {
    const { promise, reject } = pending<never>();
    const { startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    const timer = setTimeout(
      () => reject(this.#late("start", startTimeoutMs, false)),
      startTimeoutMs,
    );
    return Promise.race([this.#ready.promise, promise]).finally(() => clearTimeout(timer));
  }

  /**
   * Makes a call; it waits for a worker that is starting, and rejects at once where that one fails. A
   * worker that has received a call and does not answer in time is stuck and is replaced.
   *
   * @param timeoutMs bound on all of it
   * @param signal cancels the call: the worker ends it as it thinks fit
   * @throws {WorkerUnavailable}
   * @throws {Error} with the message of what was thrown in the worker
   */
  call(request: Request, timeoutMs: number, signal?: AbortSignal): Promise<Response> {
    if (this.#isClosed) return Promise.reject(this.#unavailable("call", "it is closed", false));
    const id = this.#nextId++;
    const timer = setTimeout(() => this.#expire(id, timeoutMs), timeoutMs);
    const cancelledWith = signal === undefined ? undefined : this.#idsOf(signal);
    cancelledWith?.add(id);
    const call = { ...Promise.withResolvers<Response>(), timer, cancelledWith, isSent: false };
    this.#calls.set(id, call);
    this.#unsent.push({ id, request });
    if (this.#unsent.length === 1) queueMicrotask(() => this.#flush());
    return call.promise;
  }

  /**
   * Ends the worker for good; calls under way reject.
   *
   * @param graceMs how long it may take to close what it has open; 0: it is ended before this returns
   */
  async close(graceMs = CLOSE_TIMEOUT_MS): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const instance = this.#instance;
    this.#post({ kind: "close" });
    this.#instance = null;
    this.#abandon("it is closed");
    if (instance === null) return;
    const timer = setTimeout(() => {
      logEvent("worker.not_closed", { name: this.#options.name });
      instance.closed.resolve();
    }, graceMs);
    if (graceMs > 0) await instance.closed.promise;
    clearTimeout(timer);
    end(instance);
  }

  /** The calls that a signal cancels; one listener for all of them, as removing one is a search. */
  #idsOf(signal: AbortSignal): Set<number> {
    const known = this.#cancelledBy.get(signal);
    if (known !== undefined) return known;
    const ids = new Set<number>();
    this.#cancelledBy.set(signal, ids);
    signal.addEventListener("abort", () => this.#cancel([...ids]), { once: true });
    return ids;
  }

  #cancel(ids: readonly number[]): void {
    this.#post({ kind: "cancel", ids });
    for (const id of ids) {
      if (this.#calls.get(id)?.isSent !== false) continue;
      this.#take(id)?.reject(this.#unavailable("call", "the call was cancelled", false));
    }
  }

  #start(): Instance {
    const { entry, name, permissions, settings, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    const worker = new Worker(entry, { type: "module", name, deno: { permissions } });
    const { port1: port, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    const instance: Instance = {
      worker,
      port,
      startedAt: performance.now(),
      closed: pending(),
      startTimer: undefined,
      isReady: false,
    };
    instance.startTimer = setTimeout(
      () => this.#replace(instance, "it did not start in time"),
      startTimeoutMs,
    );
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(instance, data);
    worker.onerror = (event) => {
      // otherwise the error would end the service
      event.preventDefault();
      this.#replace(instance, event.message);
    };
    port.postMessage({ kind: "start", settings: settings() } satisfies ToWorker);
    return instance;
  }

  #post(message: ToWorker): void {
    this.#instance?.port.postMessage(message);
  }

  #flush(): void {
    if (this.#instance?.isReady !== true) return;
    const calls = this.#unsent.filter(({ id }) => this.#calls.has(id));
    this.#unsent = [];
    for (const { id } of calls) this.#calls.get(id)!.isSent = true;
    if (calls.length > 0) this.#post({ kind: "calls", calls });
  }

  #receive(instance: Instance, message: FromWorker): void {
    if (message.kind === "closed") return instance.closed.resolve();
    if (instance !== this.#instance) return;
    switch (message.kind) {
      case "ready":
        instance.isReady = true;
        clearTimeout(instance.startTimer);
        this.#awaySince = null;
        this.#ready.resolve(message.ready as Ready);
        return this.#flush();
      case "start-failed":
        return this.#replace(instance, message.message);
      case "results":
        for (const result of message.results) this.#conclude(result);
        return;
      case "question":
        void this.#reply(instance, message.id, message.question);
        return;
      default:
        message satisfies never;
    }
  }

  async #reply(instance: Instance, id: number, question: unknown): Promise<void> {
    try {
      const reply = await this.#options.reply?.(question);
      if (instance === this.#instance) this.#post({ kind: "reply", id, reply });
    } catch (error) {
      // uncaught it would end the service; without a reply the worker's call waits for ever
      this.#replace(instance, `its question was not answered: ${error}`);
    }
  }

  #conclude({ id, response, fault }: Result): void {
    const call = this.#take(id);
    if (fault === null) call?.resolve(response as Response);
    else call?.reject(new Error(fault));
  }

  #take(id: number): Call<Response> | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    clearTimeout(call?.timer);
    call?.cancelledWith?.delete(id);
    return call;
  }

  #expire(id: number, timeoutMs: number): void {
    const call = this.#take(id);
    if (call === undefined) return;
    call.reject(this.#late("call", timeoutMs, call.isSent));
    if (call.isSent && this.#instance !== null) {
      this.#replace(this.#instance, "it did not answer in time");
    }
  }

  /** Rejects what waits for the worker; later calls wait for the next one. */
  #abandon(reason: string): void {
    this.#ready.reject(this.#unavailable("start", reason, false));
    if (!this.#isClosed) this.#ready = pending();
    this.#unsent = [];
    for (const [id, { isSent }] of this.#calls) {
      this.#take(id)?.reject(this.#unavailable("call", reason, isSent));
    }
  }

  /** Ends a worker and starts the next one after a pause. */
  #replace(instance: Instance, reason: string): void {
    instance.closed.resolve();
    if (instance !== this.#instance) return;
    end(instance);
    this.#instance = null;
    this.#awaySince ??= performance.now();
    this.#abandon(reason);
    if (performance.now() - instance.startedAt > SETTLED_MS) this.#failures = 0;
    this.#startLater(reason);
  }

  #startLater(reason: unknown): void {
    const pause = Math.min(FIRST_RESTART_MS * 2 ** this.#failures, LONGEST_RESTART_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    const { name } = this.#options;
    logEvent("worker.ended", { name, pause, reason });
    this.#restart = setTimeout(() => {
      try {
        this.#instance = this.#start();
      } catch (error) {
        return this.#startLater(error);
      }
      this.#restarts++;
    }, pause);
  }

  #late(what: string, ms: number, wasReceived: boolean): WorkerUnavailable {
    return this.#unavailable(what, `${Math.ceil(ms)} ms passed`, wasReceived);
  }

  #unavailable(what: string, reason: string, wasReceived: boolean): WorkerUnavailable {
    const { name } = this.#options;
    return new WorkerUnavailable(`${what} the ${name}`, reason, wasReceived);
  }
}

/** A promise that need not be awaited: a rejection reaches those who do. */
function pending<T>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => {});
  return resolvers;
}

/** Ends a worker at once. */
function end({ worker, port, startTimer }: Instance): void {
  clearTimeout(startTimer);
  port.close();
  worker.terminate();
}
