/**
 * Every span that is traced: a new one is one line. `docs/traces.md` is made of this table.
 *
 * @module
 */

/** The spans by their names: the id whose trace it is in, its words, and its attributes. */
export const SPANS = {
  "http.request": [
    "the one payment that a change answers with, otherwise the request",
    "a request, from its first check to its answer",
    ["request", "method", "route", "status", "merchant", "payment"],
  ],
  "journal.batch": [
    "the commit",
    "messages of many merchants, decided and committed with one write; linked to the payments it moved",
    ["commit", "merchants", "messages", "moves"],
  ],
  "payment.move": [
    "the payment",
    "a payment reached another status; linked to its batch, and a settlement's payout to its settlement",
    ["payment", "merchant", "kind", "status", "network", "currency", "amount", "txid", "reason"],
  ],
  "transfer.sign": [
    "the payment it pays, otherwise the transfer",
    "signed, and the signature committed; all transfers of a round at once",
    ["transfer", "payment", "kind", "network", "currency", "txid"],
  ],
  "transfer.broadcast": [
    "the payment it pays, otherwise the transfer",
    "the same bytes, sent to a node until a block has them",
    ["transfer", "payment", "network", "txid", "outcome"],
  ],
  "transfer.final": [
    "the payment it pays, otherwise the transfer",
    "met in a solid block",
    ["transfer", "payment", "network", "txid", "height", "outcome"],
  ],
  "callback.deliver": [
    "the payment it tells of, otherwise the event",
    "one attempt at the merchant's endpoint",
    ["callback", "payment", "merchant", "type", "attempt", "outcome", "status"],
  ],
} as const satisfies Readonly<
  Record<string, readonly [trace: string, words: string, attributes: readonly string[]]>
>;

export type SpanName = keyof typeof SPANS;

/** Attributes of a span; none has more than its table's. */
export type SpanAttributes<Name extends SpanName> = {
  readonly [attribute in (typeof SPANS)[Name][2][number]]?: string | number | null;
};

/** The text of `docs/traces.md`. */
export function tracesDocument(): string {
  const rows = Object.entries(SPANS).map(([name, [trace, words, attributes]]) =>
    `| \`${name}\` | ${words} | ${trace} | ${attributes.map((one) => `\`${one}\``).join(", ")} |`
  );
  return `# Traces

Made by \`deno task traces\` of \`log/span_table.ts\`. The service exports spans by OpenTelemetry's protocol (OTLP) where it is
told to, by the support that is part of Deno; it loads no library for it. Off by default, and off it does nothing.

| Variable | Value | Why |
|---|---|---|
| \`OTEL_DENO\` | \`true\` | switches it on |
| \`OTEL_EXPORTER_OTLP_ENDPOINT\` | \`http://127.0.0.1:4318\` | the collector; \`OTEL_EXPORTER_OTLP_PROTOCOL\` is \`http/protobuf\` or \`http/json\` |
| \`OTEL_SERVICE_NAME\` | \`engine\` | what the collector shows |
| \`OTEL_EXPORTER_OTLP_TIMEOUT\` | \`2000\` | milliseconds for which the end of the process waits for a collector that does not answer; without it 10000 |
| \`OTEL_TRACES_SAMPLER\` | \`parentbased_always_off\` | needed: only the spans below leave. Those that Deno makes by itself have whole addresses, with the tokens of payment pages and keys of nodes |
| \`OTEL_PROPAGATORS\` | \`none\` | needed: nothing is said to nodes and merchants, and no client decides what is traced |
| \`OTEL_DENO_CONSOLE\` | \`ignore\` | needed: the log stays where it is |
| \`OTEL_DENO_METRICS\` | \`false\` | needed: metrics are [metrics.md](metrics.md) |

The service does not start where one of the needed ones is missing. The signer is not traced: it refuses to start with
\`OTEL_DENO\`. Commands are refused with it unless \`OTEL_DENO_CONSOLE\` is \`ignore\`: what they print, words of a wallet or a
new key, would be sent too. An error that ends the process is sent to the collector as a record of the log by Deno itself. A collector that is
away or hangs holds up nothing: what does not fit into the exporter's buffer is dropped.

**A trace is found by its id, without a search.** The trace of a payment, transfer, request, commit or event is its id without
its prefix and dashes: \`wd_0193a1b2-5c3d-7e4f-8a9b-0c1d2e3f4a5b\` has the trace \`0193a1b25c3d7e4f8a9b0c1d2e3f4a5b\`. So all nodes,
and one node before and after a restart, write to the same trace; its spans lie side by side below a root that is never
sent, and viewers may say that the root is missing.

| Span | What | In the trace of | Attributes |
|---|---|---|---|
${rows.join("\n")}

The route is a template (\`/api/withdrawals/{id}\`): no path, no query, no body, no key and no address of a person is in a span.
`;
}
