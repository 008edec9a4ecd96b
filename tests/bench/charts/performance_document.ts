/**
 * The figures of `docs/performance.md`: its tables, between marks that stay, and its charts.
 *
 * @module
 */

import { evmDocument, type EvmMeasurement } from "../evm/evm_report.ts";
import type { PartitionMeasurement } from "../growth/measure_partitions.ts";
import type { GrowthResults } from "../growth/measure_growth.ts";
import type { Machine } from "../machine.ts";
import type { Measurement } from "../measure.ts";
import { middle, select } from "../results.ts";
import { type Side, SIDES } from "../side.ts";
import { percent } from "../stolen_time.ts";
import { type BarGroup, drawBars } from "./bar_chart.ts";
import { type Drawn, growthCharts, growthTables } from "./growth_pictures.ts";

/** A run of the bench that figures come from. */
export interface Run {
  readonly startedAt: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly generator: string;
  readonly stolen: number | null;
  /** Seconds of a measurement. */
  readonly seconds: number;
  readonly pools: Readonly<Record<string, number>>;
}

/** Everything that the document shows; kept beside it. */
export interface Published {
  /** The run of sides beside one another, and the runs of growing sizes. */
  readonly compared: { readonly run: Run; readonly measurements: readonly Measurement[] } | null;
  readonly grown: { readonly runs: readonly Run[]; readonly results: GrowthResults } | null;
  readonly partitions: readonly PartitionMeasurement[];
  /** Figures of the chains of Ethereum; absent before they were measured. */
  readonly evm?: { readonly run: Run; readonly measurements: readonly EvmMeasurement[] };
}

const GROUPS = [
  ["hot", 64],
  ["hot", 256],
  ["spread", 64],
  ["spread", 256],
] as const;
const SHOWN: readonly Side[] = ["journal", "stored_function", "row_lock"];

/** Charts by file name. */
export function chartsOf({ compared, grown }: Published): Drawn {
  return new Map([
    ...(compared === null ? [] : [
      [
        "withdrawals.svg",
        drawBars("Accepted withdrawals per second", "withdrawals per second", barsOf(compared)),
      ] as const,
    ]),
    ...(grown === null ? [] : growthCharts(grown.results)),
  ]);
}

function barsOf({ measurements }: NonNullable<Published["compared"]>): readonly BarGroup[] {
  return GROUPS.map(([which, connections]) => ({
    name: `${which === "hot" ? "one hot merchant" : "1,000 merchants"}, ${connections} connections`,
    bars: SHOWN.map((side) => {
      const of = select({ measurements }, { side, case: which, connections });
      return { name: SIDES[side], value: middle(of, (one) => one.perSecond) };
    }).filter(({ value }) => !Number.isNaN(value)),
  })).filter(({ bars }) => bars.length > 0);
}

/** The document with the tables of these figures in it. */
export function fillDocument(document: string, published: Published): string {
  let text = document;
  for (const [name, table] of tablesOf(published)) {
    const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) {
      throw new Error(`Cannot fill the document in as it has no place for ${name}`);
    }
    text = `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
  }
  return text;
}

function tablesOf({ compared, grown, partitions, evm }: Published): Drawn {
  return new Map([
    ...(evm === undefined ? [] : [
      ["runs-evm", runsTable([evm.run])],
      ["evm", evmDocument(evm.measurements)],
    ] as const),
    ...(partitions.length === 0 ? [] : [["partitions", partitionsTable(partitions)] as const]),
    ...(compared === null ? [] : [
      ["runs-compared", runsTable([compared.run])],
      ["compared", comparedTable(compared)],
    ] as const),
    ...(grown === null
      ? []
      : [["runs-growth", runsTable(grown.runs)] as const, ...growthTables(grown.results)]),
  ]);
}

function runsTable(runs: readonly Run[]): string {
  const machines = new Set(runs.map(({ machine }) => machineText(machine)));
  return [
    ...machines,
    "",
    "| Run | Commit | Load | Taken by the host |",
    "|---|---|---|---:|",
    ...runs.map(({ startedAt, commit, generator, stolen, seconds }) =>
      `| ${startedAt.slice(0, 16).replace("T", " ")} UTC | ${
        commit ?? "-"
      } | ${generator}, ${seconds} s | ${stolen === null ? "-" : percent(stolen)} |`
    ),
  ].join("\n");
}

function machineText(machine: Machine): string {
  return `${machine.cores} cores (${machine.processor}), ${machine.system}, Deno ${machine.deno}, PostgreSQL ` +
    `${machine.postgres} with fsync ${machine.fsync}, synchronous_commit ${machine.synchronousCommit}, ` +
    `full_page_writes ${machine.fullPageWrites}, shared_buffers ${machine.sharedBuffers}.`;
}

function partitionsTable(found: readonly PartitionMeasurement[]): string {
  const line = (name: string, value: (one: PartitionMeasurement) => number) =>
    `| ${name} | ${found.map((one) => value(one).toLocaleString("en")).join(" | ")} |`;
  const tenth = (value: number) => Number(value.toFixed(1));
  return [
    `| ${found[0]?.rows.toLocaleString("en")} entries | ${
      found.map(({ way }) => way).join(" | ")
    } |`,
    `|---|${found.map(() => "---:").join("|")}|`,
    line("inserting an entry, in batches of 600, µs", (one) => tenth(one.insertUs)),
    line("blocks looked at per entry", (one) => tenth(one.blocks)),
    line("bytes of log per entry", (one) => tenth(one.logBytes)),
    line("reading a payment's entries, kept plan, µs", (one) => tenth(one.readUs)),
    line("the same, planned each time, µs", (one) => tenth(one.planUs)),
    line("removing the oldest twelfth, ms", (one) => tenth(one.removalMs)),
  ].join("\n");
}

function comparedTable({ run, measurements }: NonNullable<Published["compared"]>): string {
  const rows = GROUPS.flatMap(([which, connections]) =>
    SHOWN.flatMap((side) => {
      const of = select({ measurements }, { side, case: which, connections });
      if (of.length === 0) return [];
      const whole = (value: (one: Measurement) => number) =>
        Math.round(middle(of, value)).toLocaleString("en");
      const pool = run.pools[`${side} ${which}`];
      return [
        `| ${SIDES[side]}${
          pool === undefined ? "" : ` (pool ${pool})`
        } | ${which} | ${connections} | ${whole((one) => one.perSecond)} | ` +
        `${middle(of, (one) => one.p50).toFixed(1)} | ${
          middle(of, (one) => one.p99).toFixed(1)
        } | ` +
        `${whole((one) => one.serverUs)} | ${whole((one) => one.databaseUs ?? NaN)} |`,
      ];
    })
  );
  return [
    "![Accepted withdrawals per second, beside a stored function and row locks](performance/withdrawals.svg)",
    "",
    "| | Case | Connections | Per second | p50, ms | p99, ms | Service, µs | PostgreSQL, µs |",
    "|---|---|---:|---:|---:|---:|---:|---:|",
    ...rows,
  ].join("\n");
}
