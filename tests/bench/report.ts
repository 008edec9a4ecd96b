/**
 * A run as a page of text.
 *
 * @module
 */

import { callbackTable } from "./callbacks/callback_report.ts";
import { growthTables } from "./charts/growth_pictures.ts";
import type { Case, Measurement } from "./measure.ts";
import { evmTable } from "./evm/evm_report.ts";
import { externalTable } from "./external/external_report.ts";
import { middle, type Results, select } from "./results.ts";
import { overloadTable } from "./overload/overload_report.ts";
import { pageTable } from "./page/page_report.ts";
import { lifeTable } from "./life/life_report.ts";
import { scanTable } from "./scan/scan_report.ts";
import { type Side, SIDES } from "./side.ts";
import { median } from "./statistics.ts";
import { percent } from "./stolen_time.ts";
import { verdicts } from "./targets.ts";

const CASES: readonly Case[] = ["hot", "spread"];
const WIDTH = 56;
/** From this share on absolute figures tell of the host as well. */
const MUCH_STOLEN = 0.05;

function whole(value: number): string {
  return Number.isNaN(value) ? "-" : Math.round(value).toLocaleString("en");
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** The report. */
export function report(results: Results): string {
  const { machine } = results;
  const connections = [...new Set(results.measurements.map((one) => one.connections))];
  return [
    `${machine.cores} cores (${machine.processor}), ${machine.system}, load before: ${
      machine.loadBefore.toFixed(2)
    }`,
    `Deno ${machine.deno}; PostgreSQL ${machine.postgres}: fsync ${machine.fsync}, ` +
    `synchronous_commit ${machine.synchronousCommit}, full_page_writes ${machine.fullPageWrites}, ` +
    `shared_buffers ${machine.sharedBuffers}; one flush ${
      machine.flushMs?.toFixed(2) ?? "unknown"
    } ms`,
    hostLine(results),
    ...warning(results),
    `Load: ${results.generator}, closed loop, on the same cores; ${results.options.seconds} s per ` +
    `measurement, medians of ${results.options.rounds} interleaved rounds [lowest-highest]`,
    `Rows of each withdrawal, on every side: withdrawal, transaction, outgoing, 3 entries, 2 charges,`,
    `balance, account, 2 house balances (split over 32 rows each in A and B)`,
    ...connections.flatMap((count) => withdrawalTable(results, count)),
    ...bulkTable(results),
    ...listTable(results),
    ...scanTable(results.scans),
    ...callbackTable(results.callbacks),
    ...pageTable(results.pages),
    ...lifeTable(results.lives),
    ...evmTable(results.evm),
    ...externalTable(results.externals),
    ...overloadTable(results.overloads),
    ...growthText(results),
    ...targetTable(results),
  ].join("\n") + "\n";
}

/** Share of core time that the host took over the whole run, and at most while blocks were read. */
function hostLine({ stolen, scans }: Results): string {
  if (stolen === null) return "How much of the cores' time the host took is unknown";
  const most = mostStolen(scans);
  return `The host took ${stolen === 0 ? "nothing" : percent(stolen)} of the cores' time while ` +
    `this ran` + (most > 0 ? ` (most in one measurement of blocks: ${percent(most)})` : "");
}

function mostStolen(scans: Results["scans"]): number {
  return Math.max(0, ...scans.map((one) => one.stolen ?? 0));
}

function warning({ machine, stolen, scans }: Results): string[] {
  return [
    ...(machine.loadBefore < machine.cores / 4 ? [] : [
      "OTHERS USED THIS MACHINE WHEN THE BENCH BEGAN: figures of different rounds do not compare, and",
      "baselines that wait for locks suffer less than what needs the processor",
    ]),
    ...(Math.max(stolen ?? 0, mostStolen(scans)) <= MUCH_STOLEN ? [] : [
      "THE HOST GAVE THE CORES TO OTHERS AS WELL: absolute figures are lower than on cores of one's own",
    ]),
  ];
}

function withdrawalTable(results: Results, connections: number): string[] {
  const sides = Object.keys(SIDES) as Side[];
  const lines = CASES.flatMap((which) => {
    const rows = sides.flatMap((side) => {
      const found = select(results, { side, case: which, connections });
      return found.length === 0 ? [] : [row(results, side, which, found)];
    });
    if (rows.length === 0) return [];
    const head = which === "hot" ? "one hot merchant" : "1,000 merchants";
    return [
      "",
      `Withdrawals, ${connections} connection${connections === 1 ? "" : "s"}, ${head}`.padEnd(
        WIDTH + 6,
      ) +
      "req/s            range   p50 ms   p99 ms  app us   db us  batch     MB",
      ...rows,
    ];
  });
  return lines;
}

function row(results: Results, side: Side, which: Case, found: readonly Measurement[]): string {
  const rates = found.map((one) => one.perSecond);
  const pool = results.pools[`${side} ${which}`];
  const name = SIDES[side] + (pool === undefined ? "" : ` (pool ${pool})`);
  const database = median(found.flatMap((one) => one.databaseUs ?? []));
  return `  ${name}`.padEnd(WIDTH + 4) +
    [
      whole(median(rates)).padStart(7),
      `[${whole(Math.min(...rates))}-${whole(Math.max(...rates))}]`.padStart(17),
      short(middle(found, (one) => one.p50)).padStart(9),
      short(middle(found, (one) => one.p99)).padStart(9),
      whole(middle(found, (one) => one.serverUs)).padStart(8),
      whole(database).padStart(8),
      short(middle(found, (one) => one.batch)).padStart(7),
      whole(Math.max(...found.map((one) => one.memoryMb))).padStart(7),
    ].join("");
}

function bulkTable(results: Results): string[] {
  if (results.bulk.length === 0) return [];
  const lines = CASES.flatMap((which) =>
    [...new Set(results.bulk.map((one) => one.size))].map((size) => {
      const rates = results.bulk.filter((one) => one.case === which && one.size === size)
        .map((one) => one.perSecond);
      return `  ${which === "hot" ? "one hot merchant" : "1,000 merchants"}, batches of ${size}`
        .padEnd(WIDTH + 4) +
        whole(median(rates)).padStart(7) +
        `[${whole(Math.min(...rates))}-${whole(Math.max(...rates))}]`.padStart(17);
    })
  );
  return [
    "",
    "E  bulk ceiling: book.commit_batch alone, no HTTP".padEnd(WIDTH + 6) +
    "rows/s            range",
    ...lines,
  ];
}

function listTable({ lists }: Results): string[] {
  if (lists.length === 0) return [];
  const head = "Lists, ms per request over HTTP, one connection".padEnd(WIDTH + 6);
  return [
    "",
    `${head}page  10,000  1,000,000  fastest  slowest  x 10,000  OFFSET`,
    ...lists.map(({ name, page, small, large, fastest, slowest, ratio, naive }) =>
      `  ${name}`.padEnd(WIDTH + 4) +
      [
        String(page).padStart(6),
        short(small).padStart(8),
        short(large).padStart(11),
        short(fastest).padStart(9),
        short(slowest).padStart(9),
        (ratio === null ? "-" : short(ratio)).padStart(10),
        short(naive).padStart(8),
      ].join("")
    ),
  ];
}

function growthText({ growth }: Results): string[] {
  if (growth === null || growth.loads.length === 0) return [];
  return [...growthTables(growth).values()].flatMap((table) => ["", table]);
}

function targetTable(results: Results): string[] {
  const found = verdicts(results);
  if (found.length === 0) return [];
  return [
    "",
    "Targets (medians of the ratios within each round)".padEnd(WIDTH + 6) + "value   target",
    ...found.map(({ name, value, target, isMet }) =>
      `  ${name}`.padEnd(WIDTH + 4) +
      `${short(value).padStart(7)}${String(target).padStart(9)}   ${isMet ? "met" : "SHORT"}`
    ),
  ];
}
