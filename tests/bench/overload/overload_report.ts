/**
 * Figures of overload, as lines of the report and as targets.
 *
 * @module
 */

import { median } from "../statistics.ts";
import { IDLE_CLIENTS, type OverloadMeasurement, TIMES } from "./measure_overload.ts";

/** Lines of the report: name, value and decimals. */
const LINES: readonly (readonly [string, (one: OverloadMeasurement) => number, number])[] = [
  ["peak, closed loop, 256 connections, req/s", (one) => one.peak, 0],
  ["  p99 of it, ms", (one) => one.peakP99, 1],
  [`offered, req/s (${TIMES} times the peak)`, (one) => one.offered, 0],
  ["sent, req/s", (one) => one.sent / one.seconds, 0],
  ["  p99 of how late the generator was, ms", (one) => one.lateP99, 1],
  ["  share of a core that it used", (one) => one.core, 2],
  ["accepted, req/s", (one) => one.accepted / one.seconds, 0],
  ["  of the peak", (one) => one.accepted / one.seconds / one.peak, 2],
  ["  p50, ms", (one) => one.acceptedP50, 1],
  ["  p99, ms", (one) => one.acceptedP99, 1],
  ["503, req/s", (one) => one.refused / one.seconds, 0],
  ["  p50, ms", (one) => one.refusedP50, 1],
  ["  p99, ms", (one) => one.refusedP99, 1],
  ["  share with Retry-After", (one) => one.withRetryAfter / one.refused, 3],
  ["other answers, broken, and due while no connection was free", others, 0],
  ["acknowledged and not in the ledger", (one) => one.lost, 0],
];

function others(one: OverloadMeasurement): number {
  return one.otherStatus + one.broken + one.unsent;
}

/** The lines of the report. */
export function overloadTable(found: readonly OverloadMeasurement[]): string[] {
  if (found.length === 0) return [];
  const of = (idleClients: number) => found.filter((one) => one.idleClients === idleClients);
  const cell = (idleClients: number, value: (one: OverloadMeasurement) => number, digits: number) =>
    median(of(idleClients).map(value)).toFixed(digits).padStart(14);
  return [
    "",
    "Overload, open loop, 1,000 merchants, behind the listener".padEnd(62) +
    "alone".padStart(14) + `${IDLE_CLIENTS} idle`.padStart(14),
    ...LINES.map(([name, value, digits]) =>
      `  ${name}`.padEnd(62) + cell(0, value, digits) + cell(IDLE_CLIENTS, value, digits)
    ),
  ];
}

/** The figures of overload as targets: the least that should be reached, and the most that may be. */
export function overloadFigures(found: readonly OverloadMeasurement[]): {
  readonly least: readonly (readonly [string, number, number])[];
  readonly most: readonly (readonly [string, number, number])[];
} {
  const alone = found.filter((one) => one.idleClients === 0);
  const beside = found.filter((one) => one.idleClients > 0);
  const middle = (value: (one: OverloadMeasurement) => number) => median(alone.map(value));
  const lost = found.length === 0 ? NaN : found.reduce((sum, one) => sum + one.lost, 0);
  const besideIdle = median(
    beside.flatMap((one) => {
      const other = alone.find(({ round }) => round === one.round);
      return other === undefined ? [] : [one.peak / other.peak];
    }),
  );
  return {
    least: [
      ["overload: accepted / peak", middle((one) => one.accepted / one.seconds / one.peak), 0.9],
      ["overload: 503 with Retry-After", middle((one) => one.withRetryAfter / one.refused), 1],
      [`peak beside ${IDLE_CLIENTS} idle connections / alone`, besideIdle, 0.95],
    ],
    most: [
      [
        "overload: p99 of accepted / at the peak",
        middle((one) => one.acceptedP99 / one.peakP99),
        3,
      ],
      ["overload: p99 of 503, ms", middle((one) => one.refusedP99), 50],
      ["overload: acknowledged and lost", lost, 0],
    ],
  };
}
