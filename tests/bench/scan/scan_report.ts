/**
 * Figures of reading and crediting, as lines of the report and as targets.
 *
 * @module
 */

import { median } from "../statistics.ts";
import { percent } from "../stolen_time.ts";
import { SCAN_CASES, type ScanCase, type ScanMeasurement } from "./measure_scan.ts";

const WIDTH = 60;

/** The lines of the report. */
export function scanTable(scans: readonly ScanMeasurement[]): string[] {
  return [
    ...table(scans, "scan", "Catching up over HTTP, blocks of 300 transfers", "blocks/s"),
    ...table(scans, "deposits", "Deposits from block to CONFIRMED", "deposits/s"),
  ];
}

function table(
  scans: readonly ScanMeasurement[],
  section: "scan" | "deposits",
  title: string,
  unit: string,
): string[] {
  const cases = casesOf(section).filter((which) => scans.some((one) => one.case === which));
  if (cases.length === 0) return [];
  const rows = cases.map((which) => {
    const found = scans.filter((one) => one.case === which);
    const rates = found.map((one) => rateOf(section, one));
    return `  ${SCAN_CASES[which]}`.padEnd(WIDTH) +
      [
        whole(median(rates)).padStart(9),
        `[${whole(Math.min(...rates))}-${whole(Math.max(...rates))}]`.padStart(17),
        whole(median(found.map((one) => one.readerUs))).padStart(14),
        whole(median(found.map((one) => one.databaseUs ?? NaN))).padStart(13),
        whole(Math.max(...found.map((one) => one.memoryMb))).padStart(6),
        percent(median(found.map((one) => one.stolen ?? NaN))).padStart(8),
      ].join("");
  });
  return [
    "",
    `${title.padEnd(WIDTH)}${unit.padStart(9)}            range  app us/block  db us/block    MB` +
    "  stolen",
    ...rows,
  ];
}

/** Figures of reading and crediting: what they should reach, and what they may cost at most. */
export function scanFigures(scans: readonly ScanMeasurement[]): {
  readonly least: readonly (readonly [string, number, number])[];
  readonly most: readonly (readonly [string, number, number])[];
} {
  const of = (which: ScanCase, value: (one: ScanMeasurement) => number) =>
    median(scans.filter((one) => one.case === which).map(value));
  const ratio = (above: ScanCase, below: ScanCase, value: (one: ScanMeasurement) => number) =>
    median(
      scans.filter((one) => one.case === above).flatMap((one) => {
        const other = scans.find((two) => two.case === below && two.round === one.round);
        return other === undefined ? [] : [value(one) / value(other)];
      }),
    );
  const blocks = (one: ScanMeasurement) => one.blocksPerSecond;
  const deposits = (one: ScanMeasurement) => one.depositsPerSecond;
  const cost = (one: ScanMeasurement) => one.readerUs + (one.databaseUs ?? NaN);
  return {
    least: [
      ["blocks of 300 transfers read per second", of("scan_small", blocks), 100],
      ["the same with 1,000,000 issued addresses", of("scan_large", blocks), 100],
      ["blocks: engine / one by one", ratio("scan_small", "scan_one_by_one", blocks), 5],
      ["deposits credited per second, 1,000 merchants", of("deposits_spread", deposits), 5_000],
      ["deposits credited per second, one merchant", of("deposits_hot", deposits), 5_000],
      ["deposits: engine / alone", ratio("deposits_spread", "deposits_alone", deposits), 2.3],
    ],
    most: [
      [
        "processor time per block: 1,000,000 / 10,000 addresses (at most)",
        ratio("scan_large", "scan_small", cost),
        1.2,
      ],
    ],
  };
}

/** The cases of a part of the bench. */
export function casesOf(section: "scan" | "deposits"): readonly ScanCase[] {
  return (Object.keys(SCAN_CASES) as ScanCase[]).filter((which) => which.startsWith(section));
}

function rateOf(section: "scan" | "deposits", one: ScanMeasurement): number {
  return section === "scan" ? one.blocksPerSecond : one.depositsPerSecond;
}

function whole(value: number): string {
  if (Number.isNaN(value)) return "-";
  return Math.abs(value) < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}
