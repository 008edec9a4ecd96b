/**
 * A chart of bars as an SVG file: groups below one another, one bar per side in each, and its value
 * beside it.
 *
 * @module
 */

import { escaped, place } from "./svg_text.ts";

/** Bars that belong together. */
export interface BarGroup {
  readonly name: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const WIDTH = 860;
const LEFT = 310;
const RIGHT = 780;
const TOP = 50;
const BAR = 18;
const GAP = 4;
const BETWEEN = 34;
/** The first bar of a group is the engine's. */
const COLOURS = ["#0b4f8a", "#e08a1e", "#b3360b", "#8a8f98"];

/** Draws a chart; the same chart is the same text. */
export function drawBars(title: string, unit: string, groups: readonly BarGroup[]): string {
  const highest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const lines: string[] = [];
  let y = TOP;
  for (const { name, bars } of groups) {
    y += BETWEEN - BAR;
    lines.push(`<text x="16" y="${y}" font-weight="600">${escaped(name)}</text>`);
    y += GAP * 2;
    for (const [n, bar] of bars.entries()) {
      const width = bar.value / highest * (RIGHT - LEFT);
      const middle = y + BAR - 5;
      lines.push(
        `<text x="${LEFT - 10}" y="${middle}" text-anchor="end">${escaped(bar.name)}</text>`,
        `<rect x="${LEFT}" y="${y}" width="${place(width)}" height="${BAR}" fill="${
          COLOURS[n % COLOURS.length]
        }"/>`,
        `<text x="${place(LEFT + width + 8)}" y="${middle}">${
          Math.round(bar.value).toLocaleString("en")
        }</text>`,
      );
      y += BAR + GAP;
    }
  }
  const height = y + 40;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"` +
    ` font-family="system-ui, sans-serif" font-size="13" fill="#1f2937" role="img" aria-label="${
      escaped(title)
    }">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="26" font-size="16" font-weight="600">${escaped(title)}</text>`,
    ...lines,
    `<path d="M${LEFT} ${TOP}V${y}" stroke="#6b7280"/>`,
    `<text x="${LEFT}" y="${height - 14}">${escaped(unit)}</text>`,
    "</svg>",
  ].join("\n") + "\n";
}
