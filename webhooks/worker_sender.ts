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
import { lookup as systemLookup } from "node:dns";
import type { AttemptOutcome } from "./attempt_outcome.ts";
import type { Delivery, Resolve, Sender } from "./sender.ts";
import type { FromSender, Job, ToSender } from "./sender_protocol.ts";
import type { UrlRules } from "./url_guard.ts";

const log = getLogger(["engine", "webhook"]);

/** How much longer than its time-out an attempt may take before the worker counts as stuck. */
const STUCK_MS = 10_000;
const WATCH_MS = 1_000;

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A worker that lived this long has not failed to start. */
const SETTLED_MS = 30_000;

/** How to start the worker. */
export interface WorkerSenderOptions {
  /** The worker's module, `commands/sender_worker.ts`. */
  readonly entry: URL;
  readonly rules: UrlRules;
  /** See `senderPermissions`. */
  readonly permissions: Deno.PermissionOptionsObject;
  readonly resolve?: Resolve;
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

/** Starts the worker. */
export function createWorkerSender(options: WorkerSenderOptions): Sender {
  return new WorkerSender(options);
}

class WorkerSender implements Sender {
  readonly #options: WorkerSenderOptions;
  readonly #resolve: Resolve;
  readonly #pending = new Map<number, Pending>();
  /** Attempts that a signal gives up. */
  readonly #stoppedBy = new WeakMap<AbortSignal, Set<number>>();
  /** Null between the end of one worker and the start of the next. */
  #life: Life | null;
  #queue: Job[] = [];
  #nextId = 1;
  #failures = 0;
  #closed = false;
  #watch: ReturnType<typeof setInterval> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WorkerSenderOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? systemLookup;
    this.#life = this.#start();
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
    const { entry, permissions, rules } = this.#options;
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
    port.postMessage({ kind: "start", rules } satisfies ToSender);
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
        this.#lookUp(life, message.id, message.hostname);
        return;
      default:
        message satisfies never;
    }
  }

  #lookUp(life: Life, id: number, hostname: string): void {
    this.#resolve(hostname, { all: true }, (error, addresses) => {
      if (life !== this.#life) return;
      const code = error === null ? null : error.code ?? error.name;
      this.#tell({ kind: "resolved", id, code, addresses: error === null ? addresses : [] });
    });
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
    this.#restart = setTimeout(() => {
      this.#life = this.#start();
      this.#flush();
    }, pause);
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
