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
  "evm",
  "growth",
  "partitions",
] as const;

/** One of {@linkcode SECTIONS}. */
export type Section = (typeof SECTIONS)[number];

/** Parts that take long and fill disks: measured where they are asked for by name. */
const BY_NAME: readonly Section[] = ["growth", "partitions"];

/** Parts that a quick run leaves out. */
const SLOW: readonly Section[] = ["disk", "lists", "external", "overload", "evm"];

/** Parts whose service brings its own server. */
const OWN_SERVER: readonly Section[] = ["life", "evm"];

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
  /** Folder of an embedded server that is kept with its filled databases; null: nothing is kept. */
  readonly folder: string | null;
  /** Withdrawals that lie in the databases of the section `growth`. */
  readonly sizes: readonly number[];
  /** Merchants in the databases of the section `growth`. */
  readonly merchants: readonly number[];
  /** True: the databases of the section `growth` are filled, and nothing is measured. */
  readonly fillOnly: boolean;
}

const DEFAULT_SIZES = "10000,100000,1000000";
const DEFAULT_MERCHANTS = "1000,10000,100000";

export const USAGE = `deno task bench [--quick] [--only ${SECTIONS.join("|")}[,...]]
  [--rounds n] [--seconds n] [--connections n[,n]] [--pools n[,n]] [--own-load]
  [--database-url URL]: on that server instead of an embedded one (its role creates databases bench_...,
  which are dropped at the end; life and evm are left out, and --pools is 16 as servers take 100 connections)
  [--postgres folder[,folder]]: external compares the embedded server with that of --database-url, or else
  with the installed ones and those whose programs are in these folders, each with its default settings
  [--sizes n[,n]] [--merchants n[,n]] [--folder path] [--fill-only]: growth alone. Its databases of ${DEFAULT_SIZES}
  withdrawals and of ${DEFAULT_MERCHANTS} merchants are filled in the folder's server and kept there;
  10,000,000 withdrawals take 40 GB`;

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
      folder: { type: "string" },
      sizes: { type: "string", default: DEFAULT_SIZES },
      merchants: { type: "string", default: DEFAULT_MERCHANTS },
      "fill-only": { type: "boolean", default: false },
    },
  });
  const { quick } = values;
  const url = values["database-url"];
  const database = url === undefined ? null : new Secret(url);
  const named = values.only?.split(",") ??
    SECTIONS.filter((section) => !BY_NAME.includes(section))
      .filter((section) => !quick || !SLOW.includes(section))
      .filter((section) => database === null || !OWN_SERVER.includes(section));
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
  const own = OWN_SERVER.find((section) => sections.has(section));
  if (database !== null && own !== undefined) {
    throw new TypeError(
      `Cannot measure ${own} with --database-url as its service brings its own server`,
    );
  }
  return {
    sections,
    rounds: values.rounds === undefined ? 3 : count(values.rounds),
    seconds: values.seconds === undefined ? (quick ? 1 : 4) : count(values.seconds),
    connections: values.connections?.split(",").map((text) => count(text)) ??
      (quick ? [64] : [64, 256]),
    pools: values.pools?.split(",").map((text) => count(text)) ??
      (database !== null ? [16] : quick ? [8, 32] : [4, 8, 16, 32]),
    ownLoad: values["own-load"],
    database,
    postgres: values.postgres?.split(",") ?? [],
    folder: values.folder ?? null,
    sizes: values.sizes.split(",").map(large),
    merchants: values.merchants.split(",").map(large),
    fillOnly: values["fill-only"],
  };
}

function large(text: string): number {
  return count(text, /^[1-9]\d{3,7}$/, "from 1,000 to 99,999,999");
}

function count(text: string, shape = /^[1-9]\d{0,3}$/, range = "from 1"): number {
  if (!shape.test(text)) {
    throw new TypeError(`Cannot use as a count as it is no whole number ${range}: ${text}`);
  }
  return Number(text);
}
