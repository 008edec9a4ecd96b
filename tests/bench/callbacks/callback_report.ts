/**
 * The lines about callbacks in the report, and what they should say.
 *
 * @module
 */

import { median } from "../statistics.ts";
import type { Verdict } from "../targets.ts";
import type { CallbackMeasurement } from "./measure_callbacks.ts";

type Of<K extends CallbackMeasurement["kind"]> = Extract<CallbackMeasurement, { readonly kind: K }>;

function all<K extends CallbackMeasurement["kind"]>(
  found: readonly CallbackMeasurement[],
  kind: K,
): readonly Of<K>[] {
  return found.filter((one): one is Of<K> => one.kind === kind);
}

/** The table; empty where nothing was measured. */
export function callbackTable(found: readonly CallbackMeasurement[]): readonly string[] {
  if (found.length === 0) return [];
  const line = (name: string, values: readonly number[], unit: string) =>
    values.length === 0 ? [] : [
      `  ${name}`.padEnd(60) + Math.round(median(values)).toLocaleString("en").padStart(7) +
      `[${Math.round(Math.min(...values))}-${Math.round(Math.max(...values))}]`.padStart(17) +
      ` ${unit}`,
    ];
  const throughput = (merchants: number) =>
    all(found, "throughput").filter((one) => one.merchants === merchants)
      .map((one) => one.perSecond);
  const dispatch = all(found, "dispatch");
  const isolation = (disturbed: boolean) =>
    all(found, "isolation").filter((one) => one.disturbed === disturbed);
  return [
    "",
    "Callbacks, acknowledged by a local receiver".padEnd(62) + " median            range",
    ...line("one merchant", throughput(1), "per second"),
    ...line("100 merchants", throughput(100), "per second"),
    ...line(
      "processor time of the sender each",
      all(found, "throughput").map((one) => one.senderUs),
      "us",
    ),
    ...line(
      "processor time of PostgreSQL each",
      all(found, "throughput").flatMap((one) => one.databaseUs ?? []),
      "us",
    ),
    ...line("from the commit to the arrival, p50", dispatch.map((one) => one.p50), "ms"),
    ...line("from the commit to the arrival, p99", dispatch.map((one) => one.p99), "ms"),
    ...line("200 endpoints undisturbed, p99", isolation(false).map((one) => one.p99), "ms"),
    ...line("beside a hanging and a failing one, p99", isolation(true).map((one) => one.p99), "ms"),
  ];
}

/** Compares with the targets; what was not measured is NaN. */
export function callbackVerdicts(found: readonly CallbackMeasurement[]): readonly Verdict[] {
  const least = (name: string, value: number, target: number): Verdict => (
    { name, value, target, isMet: value >= target }
  );
  const most = (name: string, value: number, target: number): Verdict => (
    { name: `${name} (at most)`, value, target, isMet: value <= target }
  );
  const throughput = (merchants: number) =>
    median(
      all(found, "throughput").filter((one) => one.merchants === merchants)
        .map((one) => one.perSecond),
    );
  const isolation = all(found, "isolation");
  const ratios = isolation.filter((one) => one.disturbed).flatMap((one) => {
    const calm = isolation.find((other) => !other.disturbed && other.round === one.round);
    return calm === undefined ? [] : [one.p99 / calm.p99];
  });
  return [
    least("callbacks acknowledged per second, one merchant", throughput(1), 3_000),
    least("callbacks acknowledged per second, 100 merchants", throughput(100), 3_000),
    most("commit to arrival, p50, ms", median(all(found, "dispatch").map((one) => one.p50)), 50),
    most("p99 beside bad endpoints / undisturbed", median(ratios), 1.5),
  ];
}
