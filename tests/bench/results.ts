/**
 * Everything that a run found out, and the figures that are made of it.
 *
 * @module
 */

import type { BulkMeasurement } from "./bulk.ts";
import type { CallbackMeasurement } from "./callbacks/measure_callbacks.ts";
import type { EvmMeasurement } from "./evm/evm_report.ts";
import type { ExternalMeasurement } from "./external/measure_external.ts";
import type { GrowthResults } from "./growth/measure_growth.ts";
import type { PartitionMeasurement } from "./growth/measure_partitions.ts";
import type { ListMeasurement } from "./lists.ts";
import type { LifeMeasurement } from "./life/measure_life.ts";
import type { Machine } from "./machine.ts";
import type { Case, Measurement } from "./measure.ts";
import type { Options } from "./options.ts";
import type { OverloadMeasurement } from "./overload/measure_overload.ts";
import type { PageMeasurement } from "./page/measure_page.ts";
import type { ScanMeasurement } from "./scan/measure_scan.ts";
import type { Side } from "./side.ts";
import { median } from "./statistics.ts";

/** Results of a run; written as JSON. */
export interface Results {
  readonly startedAt: string;
  /** The commit that was measured; null: unknown. */
  readonly commit: string | null;
  readonly machine: Machine;
  readonly generator: string;
  /** Share of the cores' time that the host took during the whole run; null: unknown. */
  stolen: number | null;
  readonly options: Omit<Options, "sections"> & { readonly sections: readonly string[] };
  /** Pool size that was best for each baseline and case. */
  readonly pools: Record<string, number>;
  readonly measurements: Measurement[];
  readonly bulk: BulkMeasurement[];
  readonly pages: PageMeasurement[];
  readonly lists: ListMeasurement[];
  readonly scans: ScanMeasurement[];
  readonly callbacks: CallbackMeasurement[];
  readonly lives: LifeMeasurement[];
  readonly evm: EvmMeasurement[];
  readonly externals: ExternalMeasurement[];
  readonly overloads: OverloadMeasurement[];
  growth: GrowthResults | null;
  readonly partitions: PartitionMeasurement[];
}

/** Which measurements are meant. */
export interface Selection {
  readonly side: Side;
  readonly case: Case;
  readonly connections: number;
}

/** The measurements of a selection, in the order of rounds. */
export function select(
  results: { readonly measurements: readonly Measurement[] },
  wanted: Selection,
): readonly Measurement[] {
  return results.measurements.filter((one) =>
    one.side === wanted.side && one.case === wanted.case && one.connections === wanted.connections
  );
}

/** Median over rounds. */
export function middle(
  of: readonly Measurement[],
  value: (one: Measurement) => number,
): number {
  return median(of.map(value));
}

/**
 * Median of the ratios within each round: absolute figures of different rounds do not compare on a
 * machine that is not alone.
 */
export function ratio(
  results: Results,
  above: Selection,
  below: Selection,
  value: (one: Measurement) => number = (one) => one.perSecond,
): number {
  const others = new Map(select(results, below).map((one) => [one.round, value(one)]));
  return median(
    select(results, above).flatMap((one) => {
      const other = others.get(one.round);
      return other === undefined ? [] : [value(one) / other];
    }),
  );
}
