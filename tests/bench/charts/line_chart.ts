/**
 * A chart of lines as an SVG file: numbers of rows or merchants to the right on a logarithmic scale,
 * one line per series, named where it ends. Colours differ in brightness as well, and every series
 * has a mark of its own, so that colour alone never tells them apart.
 *
 * @module
 */

import { escaped, place } from "./svg_text.ts";

/** One line. */
export interface Series {
  readonly name: string;
  /** Places along both axes, from left to right. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** True: something that the engine is compared with, drawn dashed. */
  readonly isOther: boolean;
}

/** A chart of lines. */
export interface LineChart {
  readonly title: string;
  /** Text along each axis: the thing that is counted, with its unit. */
  readonly across: string;
  readonly up: string;
  /** True: the upward scale is logarithmic too; otherwise it begins at zero. */
  readonly isLogarithmic: boolean;
  readonly series: readonly Series[];
}

const WIDTH = 860;
const HEIGHT = 440;
const LEFT = 76;
const RIGHT = 600;
const TOP = 52;
const BOTTOM = 372;
const LABEL_HEIGHT = 17;
const TICKS = 6;

const OWN_COLOURS = ["#0b4f8a", "#2f8fd8", "#0f766e", "#5eb5a6", "#6d28d9", "#111827"];
const OTHER_COLOURS = ["#b3360b", "#e08a1e", "#8a5a00", "#c2417c", "#7f1d1d", "#d4a017"];

/** Draws a chart; the same chart is the same text. */
export function drawLines(chart: LineChart): string {
  const series = chart.series.filter(({ points }) => points.length > 0);
  const xs = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))]
    .sort((a, b) => a - b);
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y));
  const across = logarithmic(Math.min(...xs), Math.max(...xs), LEFT, RIGHT);
  const ticks = chart.isLogarithmic ? decades(ys) : evenSteps(Math.max(...ys));
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const up = chart.isLogarithmic
    ? logarithmic(low, high, BOTTOM, TOP)
    : (y: number) => BOTTOM - (y - low) / (high - low) * (BOTTOM - TOP);
  const drawn = series.map((one, n) => ({ one, style: styleOf(series, n) }));
  const labels = spread(
    drawn.map(({ one, style }) => ({ one, style, at: up(one.points.at(-1)?.[1] ?? 0) })),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"` +
    ` font-family="system-ui, sans-serif" font-size="13" fill="#1f2937" role="img" aria-label="${
      escaped(chart.title)
    }">`,
    `<title>${escaped(chart.title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 26, chart.title, 'font-size="16" font-weight="600"'),
    ...ticks.flatMap((tick) => [
      `<path d="M${LEFT} ${place(up(tick))}H${RIGHT}" stroke="#e5e7eb"/>`,
      text(LEFT - 8, up(tick) + 4, whole(tick), 'text-anchor="end"'),
    ]),
    ...xs.flatMap((x) => [
      `<path d="M${place(across(x))} ${BOTTOM}v5" stroke="#6b7280"/>`,
      text(across(x), BOTTOM + 22, whole(x), 'text-anchor="middle"'),
    ]),
    `<path d="M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}" fill="none" stroke="#6b7280"/>`,
    text((LEFT + RIGHT) / 2, BOTTOM + 48, chart.across, 'text-anchor="middle"'),
    text(
      0,
      0,
      chart.up,
      `text-anchor="middle" transform="translate(18 ${(TOP + BOTTOM) / 2}) rotate(-90)"`,
    ),
    ...drawn.flatMap(({ one, style }) => lineOf(one, style, across, up)),
    ...labels.map(({ one, style, at }) =>
      text(RIGHT + 16, at + 4, one.name, `fill="${style.colour}"`)
    ),
    "</svg>",
  ].join("\n") + "\n";
}

interface Style {
  readonly colour: string;
  readonly mark: number;
}

function styleOf(series: readonly Series[], n: number): Style {
  const isOther = series[n]?.isOther ?? false;
  const mark = series.slice(0, n).filter((one) => one.isOther === isOther).length;
  const colours = isOther ? OTHER_COLOURS : OWN_COLOURS;
  return { colour: colours[mark % colours.length] ?? "#000000", mark };
}

function lineOf(
  { points, isOther }: Series,
  { colour, mark }: Style,
  across: (x: number) => number,
  up: (y: number) => number,
): string[] {
  const places = points.map(([x, y]) => [place(across(x)), place(up(y))] as const);
  const path = places.map(([x, y], n) => `${n === 0 ? "M" : "L"}${x} ${y}`).join("");
  const dashes = isOther ? ' stroke-dasharray="6 4"' : "";
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>`,
    ...places.map(([x, y]) => markAt(x, y, mark, colour)),
  ];
}

function markAt(x: string, y: string, mark: number, colour: string): string {
  const shapes = [
    `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`,
    `<path d="M${x} ${y}m-4 -4h8v8h-8z" fill="${colour}"/>`,
    `<path d="M${x} ${y}m0 -5l5 9h-10z" fill="${colour}"/>`,
    `<path d="M${x} ${y}m0 -5l5 5l-5 5l-5 -5z" fill="${colour}"/>`,
    `<circle cx="${x}" cy="${y}" r="4" fill="#ffffff" stroke="${colour}" stroke-width="2"/>`,
    `<path d="M${x} ${y}m-4 -4h8v8h-8z" fill="#ffffff" stroke="${colour}" stroke-width="2"/>`,
  ];
  return shapes[mark % shapes.length] ?? "";
}

/** Moves names apart that would lie on one another, as little as possible, in their order. */
function spread<T extends { readonly at: number }>(labels: readonly T[]): readonly T[] {
  const placed: T[] = [];
  for (const label of labels.toSorted((a, b) => a.at - b.at)) {
    const lowest = (placed.at(-1)?.at ?? -Infinity) + LABEL_HEIGHT;
    placed.push({ ...label, at: Math.max(label.at, lowest) });
  }
  return placed.map((label, n) => {
    const limit = BOTTOM - (placed.length - 1 - n) * LABEL_HEIGHT;
    return { ...label, at: Math.min(label.at, limit) };
  });
}

function logarithmic(low: number, high: number, from: number, to: number) {
  const span = Math.log(high) - Math.log(low);
  return (value: number) =>
    span === 0 ? (from + to) / 2 : from + (Math.log(value) - Math.log(low)) / span * (to - from);
}

/** Powers of ten around all values. */
function decades(values: readonly number[]): readonly number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1);
  return Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
}

/** Zero to a round number above the highest value. */
function evenSteps(highest: number): readonly number[] {
  const rough = highest / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, n) => n * step);
}

function text(x: number, y: number, content: string, more: string): string {
  const at = x === 0 && y === 0 ? "" : ` x="${place(x)}" y="${place(y)}"`;
  return `<text${at} ${more}>${escaped(content)}</text>`;
}

function whole(value: number): string {
  return value >= 1 ? Math.round(value).toLocaleString("en") : String(Number(value.toFixed(3)));
}
