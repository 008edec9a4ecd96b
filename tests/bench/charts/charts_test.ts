import { assert, assertEquals, assertMatch } from "@std/assert";
import { drawBars } from "./bar_chart.ts";
import { drawLines, type LineChart } from "./line_chart.ts";

const CHART: LineChart = {
  title: "Rows & time",
  across: "rows",
  up: "ms",
  isLogarithmic: true,
  series: [
    { name: "engine", isOther: false, points: [[10_000, 1], [1_000_000, 1.2]] },
    { name: "OFFSET", isOther: true, points: [[10_000, 4], [1_000_000, 400]] },
    { name: "not measured", isOther: true, points: [] },
  ],
};

Deno.test("a chart of lines has its title, units, ticks, a mark per point and each series by name", () => {
  const svg = drawLines(CHART);
  for (const text of ["Rows &amp; time", ">rows<", ">ms<", ">10,000<", ">1,000,000<", ">1,000<"]) {
    assert(svg.includes(text), text);
  }
  assert(svg.includes(">engine<") && svg.includes(">OFFSET<") && !svg.includes("not measured"));
  assertEquals(svg.match(/stroke-width="2"(?: stroke-dasharray="6 4")?\/>/g)?.length, 2);
  assertEquals(svg.match(/<circle /g)?.length, 4);
  assert(!/NaN|Infinity|undefined/.test(svg));
  assertEquals(svg, drawLines(CHART));
});

Deno.test("a linear scale begins at zero, and names that end at one place do not lie on one another", () => {
  const svg = drawLines({
    ...CHART,
    isLogarithmic: false,
    series: ["a", "b", "c"].map((name) => ({
      name,
      isOther: false,
      points: [[1, 50], [10, 95]] as const,
    })),
  });
  assert(svg.includes(">0<") && svg.includes(">100<"));
  const heights = [...svg.matchAll(/y="([\d.]+)" fill="#[^>]+>[abc]</g)].map(([, y]) => Number(y));
  assertEquals(heights.length, 3);
  assert(heights.every((y, n) => n === 0 || y - (heights[n - 1] ?? 0) >= 12));
});

Deno.test("a chart of bars has a bar as long as its value, beside its value", () => {
  const svg = drawBars("Speed", "per second", [{
    name: "hot",
    bars: [{ name: "engine", value: 2_000 }, { name: "other", value: 500 }],
  }]);
  const widths = [...svg.matchAll(/<rect x="310" [^>]*width="([\d.]+)"/g)].map(([, w]) =>
    Number(w)
  );
  assertEquals(widths, [470, 117.5]);
  assertMatch(svg, />2,000</);
});
