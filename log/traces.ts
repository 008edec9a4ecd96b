/**
 * Traces: one span for each thing that takes time on the way of a payment, in a trace that its id names.
 * Deno's own support exports them; off, a span costs one comparison.
 *
 * @module
 */

import { logEvent } from "./log_event.ts";
import type { SpanAttributes, SpanName } from "./span_table.ts";

/** The part of Deno's tracer that is used; its types are `any`. */
interface Tracer {
  startSpan(name: string, options: unknown, context: unknown): { end(at: number): void };
}

/** The key under which a context has its span, as in every library of OpenTelemetry. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
/** Links of one span at most. */
const MOST_LINKS = 128;
const ID = /^[a-z]*_?([0-9a-f]{32})$/;

let tracer: Tracer | null = null;

/** True where spans are exported: what is only made for one is not made otherwise. */
export function isTracing(): boolean {
  return tracer !== null;
}

/** Switches traces on: the process was started with `OTEL_DENO`. */
export function openTraces(): void {
  tracer = Deno.telemetry.tracerProvider.getTracer("engine");
}

export interface Span<Name extends SpanName> {
  /** The id whose trace it is in, as `wd_0193a1b2-...` or a UUID. */
  readonly of: string;
  /** Unix milliseconds of this machine. */
  readonly from: number;
  readonly attributes: SpanAttributes<Name>;
  /** Ids of the traces that it is linked to. */
  readonly links?: readonly string[];
}

/** Exports a span that ends now. A trace is never the reason of a failure: one that cannot be made is the last. */
export function traceSpan<Name extends SpanName>(name: Name, span: Span<Name>): void {
  if (tracer === null) return;
  try {
    const parent = contextOf(span.of);
    if (parent === null) return;
    const attributes = Object.fromEntries(
      Object.entries(span.attributes).filter(([, value]) => value !== null && value !== undefined),
    );
    const links = (span.links ?? []).slice(0, MOST_LINKS).flatMap((id) => {
      const context = contextOf(id);
      return context === null ? [] : [{ context }];
    });
    tracer.startSpan(name, { attributes, links, startTime: span.from }, {
      getValue: (key: symbol) => key === SPAN ? { spanContext: () => parent } : undefined,
    }).end(Date.now());
  } catch (error) {
    tracer = null;
    logEvent("traces.failed", { error });
  }
}

/** The root that all spans of an id lie below; null for what is no UUID. */
function contextOf(id: string) {
  const [, traceId] = ID.exec(id.replaceAll("-", "")) ?? [];
  if (traceId === undefined) return null;
  return { traceId, spanId: traceId.slice(16), traceFlags: 1, isRemote: true };
}
