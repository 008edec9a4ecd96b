/**
 * Options of a run of the bench.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { Secret } from "../../app/config/secret.ts";

/** Parts of the bench. */
export const SECTIONS = [
  "withdrawals",
  "latency",
  "disk",
  "bulk",
  "http",
  "page",
  "lists",
  "callbacks",
  "isolation",
  "scan",
  "deposits",
  "life",
  "external",
  "overload",
] as const;

/** One of {@linkcode SECTIONS}. */
export type Section = (typeof SECTIONS)[number];

/** Parts that a quick run leaves out. */
const SLOW: readonly Section[] = ["disk", "lists", "external", "overload"];

/** Settings of a run. */
export interface Options {
  readonly sections: ReadonlySet<Section>;
  readonly rounds: number;
  /** Length of one measurement. */
  readonly seconds: number;
  readonly connections: readonly number[];
  /** Pool sizes that are tried for the baselines; the best one of each case is used. */
  readonly pools: readonly number[];
  /** True: the bench's own load generator is used even where wrk is installed. */
  readonly ownLoad: boolean;
  /** Connection string of the server that is measured; null: an embedded one of the run's own. */
  readonly database: Secret | null;
  /** Folders with the programs of further servers, for the section `external`. */
  readonly postgres: readonly string[];
}

export const USAGE = `deno task bench [--quick] [--only ${SECTIONS.join("|")}[,...]]
  [--rounds n] [--seconds n] [--connections n[,n]] [--pools n[,n]] [--own-load]
  [--database-url URL]: on that server instead of an embedded one (its role creates databases bench_...,
  which are dropped at the end; life is left out, and --pools is 16 as servers take 100 connections)
  [--postgres folder[,folder]]: external compares the embedded server with that of --database-url, or else
  with the installed ones and those whose programs are in these folders, each with its default settings`;

/**
 * Reads the command line.
 *
 * @throws {TypeError} when it cannot be read; the message says why
 */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      pools: { type: "string" },
      "own-load": { type: "boolean", default: false },
      "database-url": { type: "string" },
      postgres: { type: "string" },
    },
  });
  const { quick } = values;
  const url = values["database-url"];
  const database = url === undefined ? null : new Secret(url);
  const named = values.only?.split(",") ??
    SECTIONS.filter((section) => !quick || !SLOW.includes(section))
      .filter((section) => database === null || section !== "life");
  const sections = new Set<Section>();
  for (const name of named) {
    const section = SECTIONS.find((one) => one === name);
    if (section === undefined) {
      throw new TypeError(`Cannot measure this as it is none of ${SECTIONS.join(", ")}: ${name}`);
    }
    sections.add(section);
  }
  if (database !== null && !URL.canParse(database.reveal())) {
    throw new TypeError(
      "Cannot use --database-url as it is no URL (postgres://role:password@host/name)",
    );
  }
  if (database !== null && sections.has("life")) {
    throw new TypeError(
      "Cannot measure life with --database-url as its service brings its own server",
    );
  }
  return {
    sections,
    rounds: values.rounds === undefined ? 3 : count(values.rounds),
    seconds: values.seconds === undefined ? (quick ? 1 : 4) : count(values.seconds),
    connections: values.connections?.split(",").map(count) ?? (quick ? [64] : [64, 256]),
    pools: values.pools?.split(",").map(count) ??
      (database !== null ? [16] : quick ? [8, 32] : [4, 8, 16, 32]),
    ownLoad: values["own-load"],
    database,
    postgres: values.postgres?.split(",") ?? [],
  };
}

function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new TypeError(`Cannot use as a count as it is no whole number from 1: ${text}`);
  }
  return Number(text);
}
