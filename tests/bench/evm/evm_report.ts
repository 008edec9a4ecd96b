/**
 * Figures of the chains of Ethereum, each beside what was asked of it, and beside what others take for the same in this run.
 *
 * @module
 */

import type { Verdict } from "../targets.ts";
import { median } from "../statistics.ts";

/** One figure. */
export interface EvmMeasurement {
  /** With its unit. */
  readonly name: string;
  readonly value: number;
  /** Bound that it should reach, or not pass; null: it is there to be compared with. */
  readonly asked: { readonly least: number } | { readonly most: number } | null;
}

const WIDTH = 76;

/** Figures of the same name, of several rounds, as one: their median. */
export function medians(rounds: readonly (readonly EvmMeasurement[])[]): readonly EvmMeasurement[] {
  const all = rounds.flat();
  return (rounds[0] ?? []).map((first) => ({
    ...first,
    value: median(all.filter(({ name }) => name === first.name).map(({ value }) => value)),
  }));
}

/** The lines of the report. */
export function evmTable(figures: readonly EvmMeasurement[]): string[] {
  if (figures.length === 0) return [];
  return [
    "",
    "Ethereum and BNB Smart Chain".padEnd(WIDTH) + "   value       asked",
    ...figures.map((figure) =>
      `  ${figure.asked === null ? "  " : ""}${figure.name}`.padEnd(WIDTH) +
      shown(figure.value).padStart(8) +
      boundOf(figure).padStart(12)
    ),
  ];
}

/** Comparison with what was asked. */
export function evmVerdicts(figures: readonly EvmMeasurement[]): readonly Verdict[] {
  return figures.flatMap(({ name, value, asked }) => {
    if (asked === null) return [];
    return "least" in asked
      ? [{ name: `EVM: ${name}`, value, target: asked.least, isMet: value >= asked.least }]
      : [{ name: `EVM: ${name} (at most)`, value, target: asked.most, isMet: value <= asked.most }];
  });
}

/** The table of the document. */
export function evmDocument(figures: readonly EvmMeasurement[]): string {
  return [
    "| Figure | Measured | Asked |",
    "|---|---:|---:|",
    ...figures.map((figure) => {
      const name = figure.asked === null ? `*${figure.name}*` : figure.name;
      return `| ${name} | ${shown(figure.value)} | ${boundOf(figure)} |`;
    }),
  ].join("\n");
}

function boundOf({ asked }: EvmMeasurement): string {
  if (asked === null) return "";
  return "least" in asked ? `>= ${shown(asked.least)}` : `<= ${shown(asked.most)}`;
}

function shown(value: number): string {
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toFixed(2)));
}
