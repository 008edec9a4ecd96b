/**
 * Figures of other servers, as lines of the report and as targets.
 *
 * @module
 */

import type { Case } from "../measure.ts";
import { median } from "../statistics.ts";
import { EMBEDDED, type ExternalMeasurement } from "./measure_external.ts";

const WIDTH = 60;
const CASES: readonly Case[] = ["hot", "spread"];
/** Share of the embedded server's pace that counts as equally fast: rounds differ by as much. */
const AS_FAST = 0.95;

/** The lines of the report. */
export function externalTable(found: readonly ExternalMeasurement[]): string[] {
  return CASES.flatMap((which) => {
    const rows = serversOf(found).map((server) => {
      const own = found.filter((one) => one.server === server && one.case === which);
      const rates = own.map((one) => one.perSecond);
      const ratio = server === EMBEDDED ? NaN : ratioOf(found, server, which);
      return `  ${server}`.padEnd(WIDTH) +
        [
          whole(median(rates)).padStart(7),
          `[${whole(Math.min(...rates))}-${whole(Math.max(...rates))}]`.padStart(17),
          median(own.map((one) => one.p50)).toFixed(1).padStart(9),
          median(own.map((one) => one.p99)).toFixed(1).padStart(9),
          whole(median(own.flatMap((one) => one.databaseUs ?? []))).padStart(8),
          (Number.isNaN(ratio) ? "-" : ratio.toFixed(2)).padStart(12),
        ].join("");
    });
    if (rows.length === 0) return [];
    const who = which === "hot" ? "one hot merchant" : "1,000 merchants";
    return [
      "",
      `Servers with their own settings, ${who}`.padEnd(WIDTH + 2) +
      "req/s            range   p50 ms   p99 ms   db us  / embedded",
      ...rows,
    ];
  });
}

/** The least that each server should reach. */
export function externalFigures(
  found: readonly ExternalMeasurement[],
): readonly (readonly [string, number, number])[] {
  return serversOf(found).filter((server) => server !== EMBEDDED).flatMap((server) =>
    CASES.map((which) =>
      [
        `${which}: PostgreSQL ${server} / embedded`,
        ratioOf(found, server, which),
        AS_FAST,
      ] as const
    )
  );
}

/** Median of the ratios within each round. */
function ratioOf(found: readonly ExternalMeasurement[], server: string, which: Case): number {
  const of = (name: string) => found.filter((one) => one.server === name && one.case === which);
  const embedded = new Map(of(EMBEDDED).map((one) => [one.round, one.perSecond]));
  return median(
    of(server).flatMap((one) => {
      const other = embedded.get(one.round);
      return other === undefined ? [] : [one.perSecond / other];
    }),
  );
}

function serversOf(found: readonly ExternalMeasurement[]): readonly string[] {
  return [...new Set(found.map(({ server }) => server))];
}

function whole(value: number): string {
  return Number.isNaN(value) ? "-" : Math.round(value).toLocaleString("en");
}
