import { assertEquals } from "@std/assert";
import { booksFaults } from "../../support/books.ts";
import { tryCell } from "./matrix_cells.ts";
import { openRig, type RigOptions } from "./matrix_rig.ts";
import type { LiveCell } from "./matrix_table.ts";

/** Cells that are tried one after the other on rigs of their own. */
export interface Lanes {
  readonly cells: readonly LiveCell[];
  readonly rig: RigOptions;
  /** Rigs that share the cells; each has an engine, a database and a chain of its own. */
  readonly count: number;
}

/** Tries cells, each as a step of the test, on all rigs at the same time. */
export async function tryCells(t: Deno.TestContext, groups: readonly Lanes[]): Promise<void> {
  const lane = async (cells: LiveCell[], options: RigOptions) => {
    await using rig = await openRig(options);
    for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) {
      const tried = cell;
      await t.step({
        name: `${cell.step}: ${cell.kind}: ${cell.end}`,
        fn: () => tryCell(rig, tried),
        sanitizeOps: false,
        sanitizeResources: false,
        sanitizeExit: false,
      });
    }
    assertEquals(await booksFaults(rig.sql), []);
  };
  const lanes = await Promise.allSettled(groups.flatMap(({ cells, rig, count }) => {
    const left = [...cells];
    return Array.from({ length: count }, () => lane(left, rig));
  }));
  for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
}
