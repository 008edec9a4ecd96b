/**
 * Writes the figures of runs of the bench into `docs/performance.md` and draws its charts:
 *
 *     deno task performance [tests/output/bench-....json ...]
 *
 * Without files the document is drawn anew from the figures that it has. Rounds of several runs of the
 * section "growth" are taken together, so that runs may be short; of the sides beside one another, and of
 * the section "evm", the last run counts.
 *
 * @module
 */

import { chartsOf, fillDocument, type Published, type Run } from "./charts/performance_document.ts";
import type { Results } from "./results.ts";

/** The document, and the folder of its figures and charts. */
export const DOCUMENT = new URL("../../docs/performance.md", import.meta.url);
export const FOLDER = new URL("../../docs/performance/", import.meta.url);
const FIGURES = new URL("figures.json", FOLDER);

/** Figures that the document shows now. */
export async function publishedFigures(): Promise<Published> {
  try {
    return JSON.parse(await Deno.readTextFile(FIGURES));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { compared: null, grown: null, partitions: [] };
    }
    throw error;
  }
}

/** Takes runs in: what they have measured takes the place of what was there. */
function takeIn(published: Published, runs: readonly Results[]): Published {
  let { compared, partitions, evm } = published;
  const grown = runs.flatMap((results) =>
    results.growth === null || results.growth.loads.length === 0
      ? []
      : [{ run: runOf(results), growth: results.growth }]
  );
  for (const results of runs) {
    if (results.partitions.length > 0) partitions = results.partitions;
    if (results.measurements.length > 0) {
      compared = { run: runOf(results), measurements: results.measurements };
    }
    if ((results.evm ?? []).length > 0) evm = { run: runOf(results), measurements: results.evm };
  }
  const kept = { ...published, compared, partitions, ...(evm === undefined ? {} : { evm }) };
  if (grown.length === 0) return kept;
  return {
    ...kept,
    grown: {
      runs: grown.map(({ run }) => run),
      results: {
        loads: grown.flatMap(({ growth }) => growth.loads),
        writes: grown.flatMap(({ growth }) => growth.writes),
        reads: grown.flatMap(({ growth }) => growth.reads),
        // sizes are of the databases, and the first look is before any load
        tables: grown[0]?.growth.tables ?? [],
      },
    },
  };
}

function runOf({ startedAt, commit, machine, generator, stolen, options, pools }: Results): Run {
  return { startedAt, commit, machine, generator, stolen, seconds: options.seconds, pools };
}

if (import.meta.main) {
  const runs: Results[] = [];
  for (const path of Deno.args) runs.push(JSON.parse(await Deno.readTextFile(path)));
  const published = takeIn(await publishedFigures(), runs);
  await Deno.mkdir(FOLDER, { recursive: true });
  await Deno.writeTextFile(FIGURES, JSON.stringify(published, null, 1) + "\n");
  for (const [name, text] of chartsOf(published)) {
    await Deno.writeTextFile(new URL(name, FOLDER), text);
  }
  const document = await Deno.readTextFile(DOCUMENT);
  await Deno.writeTextFile(DOCUMENT, fillDocument(document, published));
}
