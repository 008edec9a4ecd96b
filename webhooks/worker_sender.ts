/**
 * A sender whose connections are made by a worker with permissions of its own: what judges a URL is
 * the first wall, what the runtime lets this worker connect to is the second. It also takes signing
 * and HTTP off the thread that commits money.
 *
 * A worker that ends or hangs is started again; what it had under way counts as attempts that broke.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { AttemptOutcome } from "./attempt_outcome.ts";
import type { NameLookups } from "./name_lookups.ts";
import type { Delivery, Sender } from "./sender.ts";
import type { FromSender, Job, ToSender } from "./sender_protocol.ts";
import type { UrlRules } from "./url_guard.ts";

const log = getLogger(["engine", "webhook"]);

/** How much longer than its time-out an attempt may take before the worker counts as stuck. */
const STUCK_MS = 10_000;
const WATCH_MS = 1_000;

/** How long the look-up of a name waits for its turn. */
const TURN_MS = 10_000;

/** Outcome of an attempt whose endpoint's name found no turn. */
const NAMES_BUSY = "NAMES_BUSY";

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A worker that lived this long has not failed to start. */
const SETTLED_MS = 30_000;

/** How to start the worker. */
export interface WorkerSenderOptions {
  /** The worker's module, `app/commands/sender_worker.ts`. */
  readonly entry: URL;
  readonly rules: UrlRules;
  /** See `senderPermissions`. */
  readonly permissions: Deno.PermissionOptionsObject;
  /** Looks names up for the worker, which may not. */
  readonly names: NameLookups;
  /** Connections above which idle ones are closed; default 2,048. */
  readonly connections?: number;
}

/** One worker from its start to its end. */
interface Life {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly startedAt: number;
}

interface Pending {
  readonly job: Job;
  readonly conclude: (outcome: AttemptOutcome) => void;
  readonly fail: (error: Error) => void;
  readonly startedAt: number;
  readonly stuckAt: number;
}

/** A sender that tells how its worker fares. */
export interface SupervisedSender extends Sender {
  /** Attempts under way, how often the worker was started again, and for how long there is none. */
  readonly figures: {
    readonly underWay: number;
    readonly restarts: number;
    readonly awayMs: number;
  };
}

/** Starts the worker. */
export function createWorkerSender(options: WorkerSenderOptions): SupervisedSender {
  return new WorkerSender(options);
}

class WorkerSender implements SupervisedSender {
  readonly #options: WorkerSenderOptions;
  readonly #pending = new Map<number, Pending>();
  /** Attempts that a signal gives up. */
  readonly #stoppedBy = new WeakMap<AbortSignal, Set<number>>();
  /** Null between the end of one worker and the start of the next. */
  #life: Life | null;
  #queue: Job[] = [];
  #nextId = 1;
  #failures = 0;
  #restarts = 0;
  /** Since when there is no worker, milliseconds of the monotonic clock; `null`: there is one. */
  #awaySince: number | null = null;
  #closed = false;
  #watch: ReturnType<typeof setInterval> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WorkerSenderOptions) {
    this.#options = options;
    this.#life = this.#start();
  }

  get figures() {
    return {
      underWay: this.#pending.size,
      restarts: this.#restarts,
      awayMs: this.#awaySince === null ? 0 : performance.now() - this.#awaySince,
    };
  }

  send(delivery: Delivery, now: number, signal: AbortSignal): Promise<AttemptOutcome> {
    if (this.#closed || signal.aborted) {
      return Promise.resolve({ category: "stopped", durationMs: 0 });
    }
    const job: Job = { id: this.#nextId++, delivery, now };
    const ids = this.#idsOf(signal);
    ids.add(job.id);
    const startedAt = performance.now();
    this.#watch ??= setInterval(() => this.#look(), WATCH_MS);
    this.#queue.push(job);
    if (this.#queue.length === 1) queueMicrotask(() => this.#flush());
    return new Promise((resolve, reject) => {
      this.#pending.set(job.id, {
        job,
        startedAt,
        stuckAt: startedAt + delivery.timeoutMs + STUCK_MS,
        conclude: (outcome) => {
          ids.delete(job.id);
          resolve(outcome);
        },
        fail: (error) => {
          ids.delete(job.id);
          reject(error);
        },
      });
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#restart);
    if (this.#life !== null) end(this.#life);
    this.#life = null;
    for (const [id, { startedAt }] of this.#pending) {
      this.#conclude(id, { category: "stopped", durationMs: since(startedAt) });
    }
    clearInterval(this.#watch);
  }

  #idsOf(signal: AbortSignal): Set<number> {
    const known = this.#stoppedBy.get(signal);
    if (known !== undefined) return known;
    // one listener for all attempts of a signal: to remove one of a thousand costs a search
    const ids = new Set<number>();
    this.#stoppedBy.set(signal, ids);
    signal.addEventListener("abort", () => this.#tell({ kind: "stop", ids: [...ids] }), {
      once: true,
    });
    return ids;
  }

  #start(): Life {
    const { entry, permissions, rules, connections } = this.#options;
    const worker = new Worker(entry, { type: "module", name: "sender", deno: { permissions } });
    const { port1: port, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    const life: Life = { worker, port, startedAt: performance.now() };
    port.onmessage = ({ data }: MessageEvent<FromSender>) => this.#receive(life, data);
    worker.onerror = (event) => {
      // otherwise the error would end the service
      event.preventDefault();
      this.#die(life, event.message);
    };
    port.postMessage({ kind: "start", rules, connections } satisfies ToSender);
    return life;
  }

  #tell(message: ToSender): void {
    this.#life?.port.postMessage(message);
  }

  #flush(): void {
    if (this.#life === null || this.#queue.length === 0) return;
    this.#tell({ kind: "send", jobs: this.#queue });
    this.#queue = [];
  }

  #receive(life: Life, message: FromSender): void {
    if (life !== this.#life) return;
    switch (message.kind) {
      case "done":
        for (const { id, outcome } of message.done) this.#conclude(id, outcome);
        return;
      case "broken": {
        const broken = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        broken?.fail(new Error(`Cannot make an attempt as it broke: ${message.reason}`));
        return;
      }
      case "resolve":
        void this.#lookUp(life, message);
        return;
      default:
        message satisfies never;
    }
  }

  async #lookUp(
    life: Life,
    { id, hostname, merchantId }: Extract<FromSender, { readonly kind: "resolve" }>,
  ): Promise<void> {
    const found = await this.#options.names.find({
      hostname,
      asker: merchantId,
      use: "delivery",
      waitMs: TURN_MS,
    });
    if (life !== this.#life) return;
    const code = found.kind === "failed" ? found.code : found.kind === "busy" ? NAMES_BUSY : null;
    const addresses = found.kind === "found" ? found.addresses : [];
    this.#tell({ kind: "resolved", id, code, addresses });
  }

  #conclude(id: number, outcome: AttemptOutcome): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.conclude(outcome);
  }

  /** A worker that does not keep its own time-outs is stuck. */
  #look(): void {
    if (this.#pending.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      return;
    }
    const now = performance.now();
    const stuck = this.#pending.values().some(({ stuckAt }) => stuckAt < now);
    if (stuck && this.#life !== null) this.#die(this.#life, "it does not answer");
  }

  #die(life: Life, reason: string): void {
    end(life);
    if (life !== this.#life) return;
    this.#life = null;
    const waiting = new Set(this.#queue.map(({ id }) => id));
    for (const [id, { startedAt }] of this.#pending) {
      if (waiting.has(id)) continue;
      this.#conclude(id, {
        category: "network",
        code: "SENDER_ENDED",
        durationMs: since(startedAt),
      });
    }
    if (performance.now() - life.startedAt > SETTLED_MS) this.#failures = 0;
    const pause = Math.min(
      FIRST_RESTART_MS * 2 ** Math.min(this.#failures, 10),
      LONGEST_RESTART_MS,
    );
    this.#failures++;
    log.error("the sender ended and starts again in {pause} ms: {reason}", { pause, reason });
    this.#awaySince ??= performance.now();
    this.#restart = setTimeout(() => this.#startAgain(), pause);
  }

  /** What was queued meanwhile goes to the new worker; one that cannot be started is tried again. */
  #startAgain(): void {
    try {
      this.#life = this.#start();
    } catch (error) {
      this.#failures++;
      log.error("the sender cannot be started, trying again in {pause} ms: {error}", {
        pause: LONGEST_RESTART_MS,
        error,
      });
      this.#restart = setTimeout(() => this.#startAgain(), LONGEST_RESTART_MS);
      return;
    }
    this.#restarts++;
    this.#awaySince = null;
    this.#flush();
  }
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** Ends a worker at once. */
function end({ worker, port }: Life): void {
  port.close();
  worker.terminate();
}
