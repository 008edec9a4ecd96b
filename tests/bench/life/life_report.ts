/**
 * Figures of whole lives of withdrawals, as lines of the report and as targets.
 *
 * @module
 */

import type { LifeMeasurement } from "./measure_life.ts";

const WIDTH = 60;

/** The lines of the report. */
export function lifeTable(lives: readonly LifeMeasurement[]): string[] {
  if (lives.length === 0) return [];
  return [
    "",
    "Whole lives of withdrawals, until their callback".padEnd(WIDTH) +
    " per s   p50 ms   p99 ms  service us",
    ...lives.flatMap((one) => [
      `  development chain and load on the same cores, ${one.seconds.toFixed(0)} s`.padEnd(WIDTH) +
      [
        one.perSecond.toFixed(0).padStart(6),
        one.p50.toFixed(0).padStart(9),
        one.p99.toFixed(0).padStart(9),
        (one.serviceUs?.toFixed(0) ?? "-").padStart(12),
      ].join(""),
      "  signatures alone, per second of processor time".padEnd(WIDTH) +
      one.signatures.toFixed(0).padStart(6),
    ]),
  ];
}

/** Figures to reach. */
export function lifeFigures(
  lives: readonly LifeMeasurement[],
): readonly (readonly [string, number, number])[] {
  return lives.flatMap(({ perSecond, signatures }) => [
    ["whole lives of withdrawals per second", perSecond, 100] as const,
    ["signatures per second of processor time", signatures, 1_000] as const,
  ]);
}
