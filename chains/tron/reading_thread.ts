/**
 * Reads ranges of blocks on a thread of its own. While the service catches up, a busy chain's answers
 * take nearly all of a core: there they keep no merchant's request waiting.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { ChainUnavailable } from "../chain.ts";
import type { TronNode } from "./node.ts";
import { CallFailed, NotAsked, RateLimited, Suspended } from "./node_failures.ts";
import { unpackAnswers } from "./packed_blocks.ts";
import { CutRange, type ReadRange, readRangeHere } from "./read_range.ts";
import type { FromReader, ToReader, TurnAsked } from "./reading_protocol.ts";
import { suspensionIn } from "./refusal_texts.ts";

const logger = getLogger(["engine", "chains", "tron"]);

/** After so long without work it is ended: at the head of the chain it would only hold memory. */
const IDLE_MS = 30_000;
/** How long it may take, its start included, to say that it gave up what nobody waits for. */
const STUCK_MS = 30_000;
/** After it ended by itself, whoever asks reads on its own thread for so long. */
const REST_MS = 60_000;

/** What it may do; it connects to the nodes that the service connects to. */
const PERMISSIONS: Deno.PermissionOptionsObject = {
  net: "inherit",
  read: false,
  write: false,
  env: false,
  run: false,
  ffi: false,
  sys: false,
  import: false,
};

/** How to start a thread. */
export interface ReadingThreadOptions {
  /** Its module, `app/commands/reader_worker.ts`. */
  readonly entry: URL;
  readonly idleMs?: number;
  readonly stuckMs?: number;
  readonly restMs?: number;
}

/** It ended before its answer: no fault of the node's. */
class ThreadEnded extends Error {}

/** A range that the thread reads. */
interface UnderWay {
  readonly answer: PromiseWithResolvers<FromReader>;
  /** Waits until its node may be asked. */
  readonly turn: (path: string) => Promise<void>;
}

/** One worker from its start to its end. */
interface Life {
  readonly worker: Worker;
  readonly port: MessagePort;
}

/**
 * A thread that starts with its first range and ends when it had none for a while. What it had under
 * way when it ends otherwise is read where it was asked for. One that hangs is not started again: the
 * runtime cannot end a loop, so that each new one might take a core for good. Out of memory, it takes
 * the service along, as reading here would.
 */
export class ReadingThread {
  readonly #options: ReadingThreadOptions;
  readonly #underWay = new Map<number, UnderWay>();
  #life: Life | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #restUntil = 0;
  #nextId = 1;
  #closed = false;

  constructor(options: ReadingThreadOptions) {
    this.#options = options;
  }

  /** Ranges that it is reading. */
  get load(): number {
    return this.#underWay.size;
  }

  /** Whether it runs now. */
  get runs(): boolean {
    return this.#life !== null;
  }

  readonly readRange: ReadRange = async (node, range, context, signal) => {
    if (this.#closed || signal.aborted || performance.now() < this.#restUntil) {
      return await readRangeHere(node, range, context, signal);
    }
    let answer: FromReader;
    try {
      const { tokens } = context;
      const id = this.#nextId++;
      const isPaced = node.callsPerSecond !== null;
      const asked = { kind: "read", id, node: node.options, range, tokens, isPaced } as const;
      answer = await this.#ask(asked, (path) => node.turn(path, signal), signal);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      return await readRangeHere(node, range, context, signal);
    }
    node.meter.count(answer.calls);
    context.ignored.zeroValue += answer.ignored.zeroValue;
    context.ignored.otherContract += answer.ignored.otherContract;
    switch (answer.kind) {
      case "read":
        return unpackAnswers(answer.answers);
      case "failed":
        throw failureOf(answer, node);
      case "broken":
        throw new Error("Cannot read blocks as the reading broke", { cause: answer.reason });
      default:
        return answer satisfies never;
    }
  };

  /** Ends it for good. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  async #ask(
    asked: Extract<ToReader, { readonly kind: "read" }>,
    turn: UnderWay["turn"],
    signal: AbortSignal,
  ): Promise<FromReader> {
    const { id } = asked;
    const life = this.#started();
    const answer = Promise.withResolvers<FromReader>();
    let stuck: ReturnType<typeof setTimeout> | undefined;
    const giveUp = () => {
      life.port.postMessage({ kind: "stop", id } satisfies ToReader);
      const { stuckMs = STUCK_MS } = this.#options;
      stuck = setTimeout(() => this.#fail(life, "it does not answer", Infinity), stuckMs);
    };
    this.#underWay.set(id, { answer, turn });
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      life.port.postMessage(asked);
      return await answer.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
      clearTimeout(stuck);
      this.#underWay.delete(id);
      if (this.#underWay.size === 0 && this.#life !== null) this.#rest();
    }
  }

  /** @throws {ThreadEnded} when none can be started */
  #started(): Life {
    clearTimeout(this.#idle);
    return this.#life ??= this.#start();
  }

  #start(): Life {
    const { entry, restMs = REST_MS } = this.#options;
    const { port1: port, port2 } = new MessageChannel();
    let worker: Worker;
    try {
      worker = new Worker(entry, {
        type: "module",
        name: "reader",
        deno: { permissions: PERMISSIONS },
      });
    } catch (error) {
      port.close();
      this.#restAfter(`it cannot be started: ${error}`, restMs);
      throw new ThreadEnded();
    }
    worker.postMessage(null, [port2]);
    const life: Life = { worker, port };
    port.onmessage = ({ data }: MessageEvent<FromReader | TurnAsked>) => {
      if (data.kind === "turn") this.#giveTurn(port, data);
      else this.#underWay.get(data.id)?.answer.resolve(data);
    };
    port.onmessageerror = () => this.#fail(life, "it cannot be understood", restMs);
    worker.onerror = (event) => {
      // otherwise the error would end the service
      event.preventDefault();
      this.#fail(life, event.message, restMs);
    };
    return life;
  }

  /** A turn that does not come is told as the end of the range: the thread need not know why. */
  async #giveTurn(port: MessagePort, { id, turn, path }: TurnAsked): Promise<void> {
    const range = this.#underWay.get(id);
    if (range === undefined) return;
    try {
      await range.turn(path);
      port.postMessage({ kind: "go", turn } satisfies ToReader);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) range.answer.reject(error);
      port.postMessage({ kind: "stop", id } satisfies ToReader);
    }
  }

  #rest(): void {
    const { idleMs = IDLE_MS } = this.#options;
    this.#idle = setTimeout(() => this.#end(), idleMs);
    // it waits for nobody
    Deno.unrefTimer(this.#idle);
  }

  #fail(life: Life, reason: string, restMs: number): void {
    if (life !== this.#life) return;
    this.#restAfter(reason, restMs);
    this.#end();
  }

  #restAfter(reason: string, restMs: number): void {
    logger.error("The thread that reads blocks ended, they are read without it {until}: {reason}", {
      until: restMs === Infinity ? "from now on" : `for ${restMs} ms`,
      reason,
    });
    this.#restUntil = performance.now() + restMs;
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#life?.port.close();
    this.#life?.worker.terminate();
    this.#life = null;
    for (const { answer } of this.#underWay.values()) answer.reject(new ThreadEnded());
  }
}

type Failed = Extract<FromReader, { readonly kind: "failed" }>;

/** What ended the range; the node here learns what the thread's own one heard. */
function failureOf(failed: Failed, node: TronNode): ChainUnavailable {
  const failure = causeOf(failed);
  if (failure instanceof Suspended) {
    node.suspend(failure.retryAfterMs, suspensionIn(failure.message)?.perSecond ?? null);
  }
  if (failure instanceof CallFailed) node.calls.failed(failure);
  const answers = unpackAnswers(failed.answers);
  return answers.length === 0 ? failure : new CutRange(answers, failure);
}

function causeOf(
  { category, message, retryAfterMs, refusal, call }: Failed,
): ChainUnavailable {
  if (call !== null) return new CallFailed(category, message, call.text, call.isRefusal);
  if (category !== "rate-limit") return new ChainUnavailable(category, message);
  if (refusal === "unasked") return new NotAsked(message);
  if (refusal === "suspended" && retryAfterMs !== null) return new Suspended(message, retryAfterMs);
  return new RateLimited(message, retryAfterMs);
}

/** Several threads as one: each range goes to the one that has the least to do. */
export function readOnThreads(threads: readonly [ReadingThread, ...ReadingThread[]]): ReadRange {
  return (...range) =>
    threads.reduce((least, one) => one.load < least.load ? one : least).readRange(...range);
}
