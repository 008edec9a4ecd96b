import { oneOf } from "./variables.ts";
import type { Given } from "./variables.ts";

/** The variable of traces that the service reads; all others are Deno's own. */
export const TRACES = {
  OTEL_DENO: oneOf("true", "false").default("false").describe(
    "true: traces are exported to a collector; what else it needs, and what is exported: docs/traces.md",
  ),
};

/** Values without which Deno would export more than the service's own spans, secrets among it. */
const NEEDED: Readonly<Record<string, string>> = {
  OTEL_TRACES_SAMPLER: "parentbased_always_off",
  OTEL_PROPAGATORS: "none",
  OTEL_DENO_CONSOLE: "ignore",
  OTEL_DENO_METRICS: "false",
};

/**
 * The reason for which a command is not carried out: what it prints, words of a wallet or a new key, would
 * go to the collector of traces too. Null where it would not.
 */
export function tracedCommandFault(given: Given): string | null {
  if (given["OTEL_DENO"]?.toLowerCase() !== "true") return null;
  if (given["OTEL_DENO_CONSOLE"] === "ignore") return null;
  return "Cannot go on as OTEL_DENO would send what this command prints to the collector: " +
    "set OTEL_DENO_CONSOLE=ignore, or run it without OTEL_DENO (docs/traces.md)";
}

/** Faults of the variables of traces, which Deno reads before the service does. */
export function traceFaults(given: Given, reader: "service" | "signer"): string[] {
  if (given.OTEL_DENO !== "true") {
    return ["OTEL_DENO_TRACING", "OTEL_DENO_METRICS", "OTEL_DENO_CONSOLE"]
      .filter((name) => ![undefined, "false", "ignore"].includes(given[name]))
      .map((name) => `${name} is set although OTEL_DENO is not true (docs/traces.md)`);
  }
  if (reader === "signer") return ["OTEL_DENO is true, and the signer is not traced"];
  return Object.entries(NEEDED)
    .filter(([name, value]) => given[name] !== value)
    .map(([name, value]) => `${name} is not ${value}, which OTEL_DENO needs (docs/traces.md)`);
}
