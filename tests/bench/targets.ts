/**
 * Targets of the engine, always against something measured in the same run.
 *
 * @module
 */

import { callbackVerdicts } from "./callbacks/callback_report.ts";
import { evmVerdicts } from "./evm/evm_report.ts";
import { externalFigures } from "./external/external_report.ts";
import type { ListMeasurement } from "./lists.ts";
import { overloadFigures } from "./overload/overload_report.ts";
import { pageVerdicts } from "./page/page_report.ts";
import { ratio, type Results } from "./results.ts";
import { lifeFigures } from "./life/life_report.ts";
import { scanFigures } from "./scan/scan_report.ts";
import { median } from "./statistics.ts";
import type { Side } from "./side.ts";
import type { Case } from "./measure.ts";

/** One figure and what it should be. */
export interface Verdict {
  readonly name: string;
  readonly value: number;
  readonly target: number;
  readonly isMet: boolean;
}

/** Compares a run with the targets; what was not measured is left out. */
export function verdicts(results: Results): readonly Verdict[] {
  const at = (side: Side, which: Case, connections: number) => ({
    side,
    case: which,
    connections,
  });
  const throughput = (which: Case, connections: number, below: Side) =>
    ratio(results, at("journal", which, connections), at(below, which, connections));
  const slowness = (which: Case, connections: number, quantile: "p50" | "p99") =>
    ratio(
      results,
      at("row_lock", which, connections),
      at("journal", which, connections),
      (one) => one[quantile],
    );
  const least: readonly (readonly [string, number, number])[] = [
    ["hot: D / A, 64 connections", throughput("hot", 64, "row_lock"), 20],
    ["hot: D / A, 256 connections", throughput("hot", 256, "row_lock"), 25],
    ["hot: D / B, 64 connections", throughput("hot", 64, "stored_function"), 7],
    ["spread: D / A, 64 connections", throughput("spread", 64, "row_lock"), 6],
    ["spread: D / B, 64 connections", throughput("spread", 64, "stored_function"), 2.3],
    ["spread: D / A, 256 connections (stretch)", throughput("spread", 256, "row_lock"), 8],
    ["spread: D / B, 256 connections (stretch)", throughput("spread", 256, "stored_function"), 3.5],
    [
      "D: hot / spread, 64 connections",
      ratio(results, at("journal", "hot", 64), at("journal", "spread", 64)),
      0.9,
    ],
    [
      "D / F, hot, 256 connections",
      ratio(results, at("journal", "hot", 256), at("http", "hot", 256)),
      0.45,
    ],
    ["D / E, hot, 256 connections, batches of 500", againstBulk(results), 0.55],
    [
      "hot, every flush 2 ms longer: kept at 64 connections",
      ratio(results, at("journal_slow_disk", "hot", 64), at("journal", "hot", 64)),
      0.85,
    ],
    ["p99 hot: A / D, 64 connections", slowness("hot", 64, "p99"), 10],
    ["p99 spread: A / D, 64 connections", slowness("spread", 64, "p99"), 3],
  ];
  const p99 = median(
    results.measurements.filter((one) => one.side === "journal" && one.connections === 256)
      .map((one) => one.p99),
  );
  const pages = results.lists;
  const most: readonly (readonly [string, number, number])[] = [
    ["slowest page of any list of 1,000,000, ms (at most)", highest(pages, (one) => one.large), 20],
    [
      "any page: at 1,000,000 / at 10,000 (at most)",
      highest(pages, (one) => one.ratio ?? 0),
      2,
    ],
    ["p99 of D at 256 connections, ms (at most)", p99, 40],
    ["p50 of D / p50 of A, one connection (at most)", 1 / slowness("hot", 1, "p50"), 0.6],
  ];
  const scans = scanFigures(results.scans);
  const overload = overloadFigures(results.overloads);
  return [
    ...[
      ...least,
      ...scans.least,
      ...lifeFigures(results.lives),
      ...externalFigures(results.externals),
      ...overload.least,
    ].map(([name, value, target]) => ({
      name,
      value,
      target,
      isMet: value >= target,
    })),
    ...[...most, ...scans.most, ...overload.most].map(([name, value, target]) => ({
      name,
      value,
      target,
      isMet: value <= target,
    })),
    ...callbackVerdicts(results.callbacks),
    ...pageVerdicts(results.pages),
    ...evmVerdicts(results.evm),
  ].filter((verdict) => !Number.isNaN(verdict.value));
}

function highest(
  pages: readonly ListMeasurement[],
  value: (one: ListMeasurement) => number,
): number {
  return pages.length === 0 ? NaN : Math.max(...pages.map(value));
}

function againstBulk(results: Results): number {
  return median(
    results.measurements
      .filter((one) => one.side === "journal" && one.case === "hot" && one.connections === 256)
      .flatMap((one) => {
        const bulk = results.bulk.find((other) =>
          other.case === "hot" && other.size === 500 && other.round === one.round
        );
        return bulk === undefined ? [] : [one.perSecond / bulk.perSecond];
      }),
  );
}
