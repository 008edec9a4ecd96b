import { parseArgs } from "node:util";

/** Settings of an abuse soak. */
export interface AbuseSoakOptions {
  /** Requests of ordinary merchants are drawn from it. */
  readonly seed: number;
  /** Length of each phase. */
  readonly seconds: number;
  /** Connections that are held open against the service. */
  readonly connections: number;
  /** Connections that are opened in a second until all of them are held. */
  readonly openRate: number;
  /** Descriptors that the service may have. */
  readonly descriptors: number;
  readonly merchants: number;
}

export const USAGE = `deno task soak abuse [options]
  --seed n         repeats a run; drawn and printed when left out
  --seconds n      of each of the ten phases, default 20
  --connections n  held open against the service, default 2000
  --open-rate n    connections opened in a second, default 4000
  --descriptors n  that the service may have, default 1024
  --merchants n    who work as usual, default 8`;

/** Reads the command line. @throws {TypeError} when it cannot be read; the message says why */
export function parseOptions(args: readonly string[]): AbuseSoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      seconds: { type: "string", default: "20" },
      connections: { type: "string", default: "2000" },
      "open-rate": { type: "string", default: "4000" },
      descriptors: { type: "string", default: "1024" },
      merchants: { type: "string", default: "8" },
    },
  });
  return {
    seed: values.seed === undefined ? Date.now() % 1_000_000 : count("--seed", values.seed),
    seconds: count("--seconds", values.seconds),
    connections: count("--connections", values.connections),
    openRate: count("--open-rate", values["open-rate"]),
    descriptors: count("--descriptors", values.descriptors),
    merchants: count("--merchants", values.merchants),
  };
}

function count(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new TypeError(`Cannot use ${name} as it is no whole number from 1: ${text}`);
  }
  return Number(text);
}
