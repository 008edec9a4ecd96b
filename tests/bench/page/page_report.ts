import { median } from "../statistics.ts";
import type { Verdict } from "../targets.ts";
import { OPEN_PAGES, type PageMeasurement } from "./measure_page.ts";

/** The rounds as a table. */
export function pageTable(pages: readonly PageMeasurement[]): string[] {
  if (pages.length === 0) return [];
  const middle = (value: (one: PageMeasurement) => number) => median(pages.map(value));
  return [
    "",
    `Hosted pages: ${middle((one) => one.pageMs).toFixed(2)} ms to draw and read one of ` +
    `${(middle((one) => one.bytes) / 1_000).toFixed(1)} kB; ` +
    `${OPEN_PAGES} open ones ask ${
      middle((one) => one.pollsPerSecond).toFixed(0)
    } times a second ` +
    `for ${percent(middle((one) => one.serviceCores))} of a core in the service and ` +
    `${percent(middle((one) => one.databaseCores))} in the database`,
  ];
}

/** Targets of the pages, and whether they are reached. */
export function pageVerdicts(pages: readonly PageMeasurement[]): readonly Verdict[] {
  if (pages.length === 0) return [];
  const most: readonly (readonly [string, number, number])[] = [
    ["a hosted page, ms (at most)", median(pages.map((one) => one.pageMs)), 5],
    [`${OPEN_PAGES} open pages, cores (at most)`, median(pages.map(coresOf)), 0.1],
  ];
  return most.map(([name, value, target]) => ({ name, value, target, isMet: value <= target }));
}

function coresOf({ serviceCores, databaseCores }: PageMeasurement): number {
  return serviceCores + databaseCores;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
