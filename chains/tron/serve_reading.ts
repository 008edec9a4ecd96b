/**
 * A reading thread's side: reads ranges as it is told.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable } from "../chain.ts";
import { TronNode } from "./node.ts";
import type { Pace } from "./call_pace.ts";
import { CallFailed, NotAsked, RateLimited, Suspended } from "./node_failures.ts";
import { packAnswers } from "./packed_blocks.ts";
import type { ParseContext } from "./parse_block.ts";
import { CutRange, readRangeHere } from "./read_range.ts";
import type { FromReader, ToReader, TurnAsked } from "./reading_protocol.ts";

/** Serves the service that sends this thread a port, until it ends it. */
export function serveReading(): void {
  globalThis.addEventListener("message", (event) => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port !== undefined) serve(port);
  }, { once: true });
}

function serve(port: MessagePort): void {
  const underWay = new Map<number, AbortController>();
  const turns = new Turns(port);
  port.onmessage = async ({ data }: MessageEvent<ToReader>) => {
    if (data.kind === "stop") {
      underWay.get(data.id)?.abort();
      return;
    }
    if (data.kind === "go") return turns.give(data.turn);
    const stop = new AbortController();
    underWay.set(data.id, stop);
    try {
      // told and not thrown: that would end the thread, and with it what others have under way
      port.postMessage(await answerTo(data, turns.of(data), stop.signal));
    } finally {
      underWay.delete(data.id);
    }
  };
}

/** Turns to ask a node, which the service gives: it asks the same node itself. */
class Turns {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The pace of one reading, `null` where nothing bounds its calls. */
  of({ id, isPaced }: Extract<ToReader, { readonly kind: "read" }>): Pace | null {
    if (!isPaced) return null;
    return { turn: (path, signal) => this.#ask(id, path, signal) };
  }

  give(turn: number): void {
    this.#waiting.get(turn)?.();
    this.#waiting.delete(turn);
  }

  #ask(id: number, path: string, signal?: AbortSignal): Promise<void> {
    const turn = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      this.#waiting.delete(turn);
      reject(new NotAsked("Cannot ask a node as it was not this call's turn in time"));
    };
    if (signal?.aborted === true) giveUp();
    else {
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.set(turn, () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      });
      this.#port.postMessage({ kind: "turn", id, turn, path } satisfies TurnAsked);
    }
    return promise;
  }
}

async function answerTo(
  { id, node: options, range, tokens }: Extract<ToReader, { readonly kind: "read" }>,
  turns: Pace | null,
  signal: AbortSignal,
): Promise<FromReader> {
  const context: ParseContext = { tokens, ignored: { zeroValue: 0, otherContract: 0 } };
  let node: TronNode | null = null;
  // its meter is as old as the reading; what it counted before midnight is lost, as it is yesterday's
  const totals = () => ({ id, calls: node?.meter.today ?? 0, ignored: context.ignored });
  try {
    node = new TronNode({ ...options, callsPerSecond: 0 }, turns);
    const answers = packAnswers(await readRangeHere(node, range, context, signal));
    return { kind: "read", answers, ...totals() };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) {
      const reason = error instanceof Error ? error.stack ?? error.message : String(error);
      return { kind: "broken", reason, ...totals() };
    }
    const isCut = error instanceof CutRange;
    return { ...failed(isCut ? error.failure : error, isCut ? error.answers : []), ...totals() };
  }
}

function failed(
  error: ChainUnavailable,
  answers: readonly BlockAnswer[],
): Extract<Told<FromReader>, { readonly kind: "failed" }> {
  const { category, message } = error;
  return {
    kind: "failed",
    category,
    message,
    retryAfterMs: error instanceof RateLimited ? error.retryAfterMs : null,
    refusal: error instanceof Suspended
      ? "suspended"
      : error instanceof NotAsked
      ? "unasked"
      : null,
    call: error instanceof CallFailed ? { text: error.call, isRefusal: error.isRefusal } : null,
    answers: packAnswers(answers),
  };
}

/** A message without what every reading tells. */
type Told<Message> = Message extends unknown ? Omit<Message, "id" | "calls" | "ignored"> : never;
