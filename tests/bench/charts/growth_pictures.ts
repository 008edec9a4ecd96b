/**
 * Charts and tables of the section "growth".
 *
 * @module
 */

import type { GrowthResults, Sized } from "../growth/measure_growth.ts";
import type { Case, Measurement } from "../measure.ts";
import type { Side } from "../side.ts";
import { median } from "../statistics.ts";
import { drawLines, type LineChart, type Series } from "./line_chart.ts";

/** Names of the documents' pictures and tables, each with its text. */
export type Drawn = ReadonlyMap<string, string>;

/** The databases that differ in the number of rows have this many merchants, the others these rows. */
const USUAL_MERCHANTS = 1_000;
const USUAL_ROWS = 100_000;

const CASES: readonly Case[] = ["hot", "spread"];
const ENGINE: Side = "journal";
const COMPARED: readonly Side[] = ["stored_function", "row_lock"];
/** Pages that are drawn; the table has all of them. */
const DRAWN_READS = [
  "withdrawals: first page",
  "withdrawals: last page",
  "withdrawals, CONFIRMED: middle page",
  "withdrawals, FAILED: middle page",
  "balance",
];
const NAIVE_READS: Readonly<Record<string, string>> = {
  "withdrawals: last page": "last page by count(*) and OFFSET",
  "balance": "balance as a sum of its lines",
};

/** Tables with fewer bytes per withdrawal are left out of the list, not of its sum. */
const SHOWN_BYTES = 10;

type Axis = "rows" | "merchants";
type Load = Sized<Measurement>;

/** Draws the charts of a run; file names with their texts. */
export function growthCharts(results: GrowthResults): Drawn {
  return new Map(
    [...chartsOf(results)].map(([name, chart]) => [`${name}.svg`, drawLines(chart)]),
  );
}

function* chartsOf(results: GrowthResults): Iterable<readonly [string, LineChart]> {
  const loads = (value: (one: Load) => number, sides: readonly Side[], axis: Axis, cases = CASES) =>
    sides.flatMap((side) =>
      cases.map((which): Series => ({
        name: `${shortName(side)}, ${which}`,
        isOther: side !== ENGINE,
        points: pointsOf(onAxis(results.loads, axis), axis, (one) =>
          one.side === side && one.case === which ? value(one) : null),
      }))
    );
  const all = [ENGINE, ...COMPARED];
  yield ["growth-withdrawals", {
    title: "Accepted withdrawals per second, 64 connections",
    across: "withdrawals in the tables",
    up: "withdrawals per second",
    isLogarithmic: false,
    series: loads((one) => one.perSecond, all, "rows"),
  }];
  yield ["growth-processor", {
    title: "Processor time of one withdrawal, service and PostgreSQL",
    across: "withdrawals in the tables",
    up: "microseconds",
    isLogarithmic: true,
    series: loads((one) => one.serverUs + (one.databaseUs ?? NaN), all, "rows"),
  }];
  yield ["growth-p99", {
    title: "Slowest of 100 answers (p99), 64 connections",
    across: "withdrawals in the tables",
    up: "milliseconds",
    isLogarithmic: true,
    series: loads((one) => one.p99, all, "rows"),
  }];
  const reads = onAxis(results.reads, "rows");
  yield ["growth-reads", {
    title: "Pages of lists and the balance of a merchant who has half of the rows",
    across: "withdrawals in the tables",
    up: "milliseconds",
    isLogarithmic: true,
    series: DRAWN_READS.flatMap((name): Series[] => [
      {
        name: name.replace("withdrawals: ", "").replace("withdrawals, ", ""),
        isOther: false,
        points: pointsOf(reads, "rows", (one) => one.name === name ? one.ms : null),
      },
      ...(NAIVE_READS[name] === undefined ? [] : [{
        name: NAIVE_READS[name],
        isOther: true,
        points: pointsOf(reads, "rows", (one) => one.name === name ? one.naive : null),
      }]),
    ]),
  }];
  yield ["growth-merchants", {
    title: "Accepted withdrawals per second, all merchants pay in turn",
    across: "merchants",
    up: "withdrawals per second",
    isLogarithmic: false,
    series: loads((one) => one.perSecond, all, "merchants", ["spread"]),
  }];
}

/** Tables of a run in Markdown, by name. */
export function growthTables(results: GrowthResults): Drawn {
  const sizes = sizesOf(results.loads, "rows");
  const merchants = sizesOf(results.loads, "merchants");
  return new Map([
    [
      "growth-withdrawals",
      table(
        ["", ...sizes.map(count), "last / first"],
        [ENGINE, ...COMPARED].flatMap((side) =>
          CASES.flatMap((which) => {
            const line = (name: string, value: (one: Load) => number) =>
              row(`${shortName(side)}, ${which}: ${name}`, sizes, (rows) =>
                median(
                  onAxis(results.loads, "rows")
                    .filter((one) => one.side === side && one.case === which && one.rows === rows)
                    .map(value),
                ));
            return [
              line("per second", (one) => one.perSecond),
              line("p99, ms", (one) => one.p99),
              line("service, µs", (one) => one.serverUs),
              line("PostgreSQL, µs", (one) => one.databaseUs ?? NaN),
            ];
          })
        ),
      ),
    ],
    [
      "growth-writes",
      table(
        ["one withdrawal in batches of 200", ...sizes.map(count), "last / first"],
        CASES.flatMap((which) => {
          const line = (name: string, value: (one: GrowthResults["writes"][number]) => number) =>
            row(`${which}: ${name}`, sizes, (rows) =>
              median(
                onAxis(results.writes, "rows")
                  .filter((one) => one.case === which && one.rows === rows).map(value),
              ));
          return [
            line("written per second", (one) => one.perSecond),
            line("blocks looked at", (one) => one.blocks),
            line("blocks not in PostgreSQL's memory", (one) => one.blocksRead),
            line("bytes of log", (one) => one.logBytes),
            line("page images in the log", (one) => one.pageImages),
          ];
        }),
      ),
    ],
    [
      "growth-reads",
      table(
        [
          "ms",
          ...sizes.map(count),
          "last / first",
          `what people write, ${count(sizes.at(-1) ?? 0)}`,
        ],
        [...new Set(results.reads.map(({ name }) => name))].map((name) => {
          const of = onAxis(results.reads, "rows").filter((one) => one.name === name);
          const naive = of.filter((one) => one.rows === sizes.at(-1)).flatMap((one) =>
            one.naive ?? []
          );
          return [
            ...row(
              name,
              sizes,
              (rows) => median(of.filter((one) => one.rows === rows).map((one) => one.ms)),
            ),
            short(median(naive)),
          ];
        }),
      ),
    ],
    ["growth-tables", tableSizes(results, sizes)],
    [
      "growth-merchants",
      table(
        ["all merchants pay in turn", ...merchants.map(count), "last / first"],
        [ENGINE, ...COMPARED].flatMap((side) => {
          const line = (name: string, value: (one: Load) => number) =>
            row(`${shortName(side)}: ${name}`, merchants, (n) =>
              median(
                onAxis(results.loads, "merchants")
                  .filter((one) =>
                    one.side === side && one.case === "spread" && one.merchants === n
                  )
                  .map(value),
              ));
          return [
            line("per second", (one) => one.perSecond),
            line("p99, ms", (one) => one.p99),
            line("service, µs", (one) => one.serverUs),
            line("PostgreSQL, µs", (one) => one.databaseUs ?? NaN),
            ...(side === ENGINE ? [line("memory of the service, MB", (one) => one.memoryMb)] : []),
          ];
        }),
      ),
    ],
  ]);
}

function tableSizes(results: GrowthResults, sizes: readonly number[]): string {
  const largest = sizes.at(-1) ?? 0;
  const at = onAxis(results.tables, "rows").filter(({ rows }) => rows === largest);
  const total = (name: "bytes" | "indexBytes") => at.reduce((sum, one) => sum + one[name], 0);
  return table(
    [
      `with ${count(largest)} withdrawals`,
      "rows",
      "table, MB",
      "indexes, MB",
      "bytes per withdrawal",
    ],
    [
      ...at.filter((one) => one.bytes + one.indexBytes > SHOWN_BYTES * largest).map((one) => [
        one.table,
        count(one.tuples),
        count(one.bytes / 1e6),
        count(one.indexBytes / 1e6),
        count((one.bytes + one.indexBytes) / largest),
      ]),
      [
        "all",
        "",
        count(total("bytes") / 1e6),
        count(total("indexBytes") / 1e6),
        count((total("bytes") + total("indexBytes")) / largest),
      ],
    ],
  );
}

function shortName(side: Side): string {
  return side === ENGINE ? "engine" : side === "row_lock" ? "A row lock" : "B stored function";
}

function onAxis<T extends { readonly rows: number; readonly merchants: number }>(
  all: readonly T[],
  axis: Axis,
): readonly T[] {
  return all.filter((one) =>
    axis === "rows" ? one.merchants === USUAL_MERCHANTS : one.rows === USUAL_ROWS
  );
}

function sizeIn(one: { readonly rows: number; readonly merchants: number }, axis: Axis): number {
  return axis === "rows" ? one.rows : one.merchants;
}

function sizesOf(all: readonly Load[], axis: Axis): readonly number[] {
  return [...new Set(onAxis(all, axis).map((one) => sizeIn(one, axis)))].sort((a, b) => a - b);
}

/** Medians over rounds; values that are null or unknown are left out. */
function pointsOf<T extends { readonly rows: number; readonly merchants: number }>(
  all: readonly T[],
  axis: Axis,
  value: (one: T) => number | null,
): Series["points"] {
  const bySize = new Map<number, number[]>();
  for (const one of all) {
    const found = value(one);
    if (found === null || Number.isNaN(found)) continue;
    const size = sizeIn(one, axis);
    bySize.set(size, [...bySize.get(size) ?? [], found]);
  }
  return [...bySize].toSorted(([a], [b]) => a - b)
    .map(([size, values]) => [size, median(values)] as const);
}

function row(
  name: string,
  sizes: readonly number[],
  value: (size: number) => number,
): readonly string[] {
  const values = sizes.map(value);
  const ratio = (values.at(-1) ?? NaN) / (values[0] ?? NaN);
  return [name, ...values.map(short), Number.isFinite(ratio) ? ratio.toFixed(2) : "-"];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(head),
    `|${head.map((_, n) => n === 0 ? "---" : "---:").join("|")}|`,
    ...rows.map(line),
  ].join("\n");
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function short(value: number): string {
  if (Number.isNaN(value)) return "-";
  return value >= 100 ? count(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
