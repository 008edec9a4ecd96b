/**
 * A reading thread's side: reads ranges as it is told.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";
import { TronNode } from "./node.ts";
import { RateLimited } from "./node_pool.ts";
import { packAnswers } from "./packed_blocks.ts";
import type { ParseContext } from "./parse_block.ts";
import { readRangeHere } from "./read_range.ts";
import type { FromReader, ToReader } from "./reading_protocol.ts";

/** Serves the service that sends this thread a port, until it ends it. */
export function serveReading(): void {
  globalThis.addEventListener("message", (event) => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port !== undefined) serve(port);
  }, { once: true });
}

function serve(port: MessagePort): void {
  const underWay = new Map<number, AbortController>();
  port.onmessage = async ({ data }: MessageEvent<ToReader>) => {
    if (data.kind === "stop") {
      underWay.get(data.id)?.abort();
      return;
    }
    const stop = new AbortController();
    underWay.set(data.id, stop);
    try {
      // told and not thrown: that would end the thread, and with it what others have under way
      port.postMessage(await answerTo(data, stop.signal));
    } finally {
      underWay.delete(data.id);
    }
  };
}

async function answerTo(
  { id, node: options, range, tokens }: Extract<ToReader, { readonly kind: "read" }>,
  signal: AbortSignal,
): Promise<FromReader> {
  const context: ParseContext = { tokens, ignored: { zeroValue: 0, otherContract: 0 } };
  let node: TronNode | null = null;
  // its meter is as old as the reading; what it counted before midnight is lost, as it is yesterday's
  const totals = () => ({ id, calls: node?.meter.today ?? 0, ignored: context.ignored });
  try {
    node = new TronNode(options);
    const answers = packAnswers(await readRangeHere(node, range, context, signal));
    return { kind: "read", answers, ...totals() };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) {
      const reason = error instanceof Error ? error.stack ?? error.message : String(error);
      return { kind: "broken", reason, ...totals() };
    }
    const { category, message } = error;
    const retryAfterMs = error instanceof RateLimited ? error.retryAfterMs : null;
    return { kind: "failed", category, message, retryAfterMs, ...totals() };
  }
}
