import { parseArgs } from "node:util";

/** Settings of a run. */
export interface FuzzOptions {
  /** Requests are drawn from it; the order in which they meet is not repeated. */
  readonly seed: number;
  readonly requests: number;
  /** Requests under way at a time. */
  readonly clients: number;
}

export const USAGE = `deno task fuzz [options]
  --seed n      what is sent is drawn from it; drawn and printed when left out
  --requests n  default 10000
  --clients n   requests under way at a time, default 16`;

/** Reads the command line. @throws {TypeError} when it cannot be read; the message says why */
export function parseOptions(args: readonly string[]): FuzzOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      requests: { type: "string", default: "10000" },
      clients: { type: "string", default: "16" },
    },
  });
  return {
    seed: values.seed === undefined ? Date.now() % 1_000_000 : count("--seed", values.seed),
    requests: count("--requests", values.requests),
    clients: count("--clients", values.clients),
  };
}

function count(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new TypeError(`Cannot use ${name} as it is no whole number from 1: ${text}`);
  }
  return Number(text);
}
